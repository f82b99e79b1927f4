import type { Contract, Input, Interface, Schema } from './openapi-contract.js';

/** Keywords that are compared. Any other would be a hole in the comparison. */
const LEAST = ['minLength', 'minItems', 'minimum'];
const MOST = ['maxLength', 'maxItems', 'maximum'];
const SHAPES = [
  '$ref',
  'type',
  'properties',
  'required',
  'items',
  'anyOf',
  'enum',
  'const',
  'additionalProperties',
  'propertyNames',
];
const KNOWN = new Set([...LEAST, ...MOST, ...SHAPES, 'pattern', 'format']);

/** A schema, with the named ones that it may refer to. */
interface Side {
  schema: Schema;
  schemas: Interface['schemas'];
}
type Kind = 'input' | 'answer';

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]);

function resolve({ schema, schemas }: Side): Schema {
  const { $ref } = schema;
  const found = typeof $ref === 'string' ? schemas[$ref.split('/').at(-1) ?? ''] : schema;
  if (!found) throw new Error(`there is no schema ${String($ref)}`);
  const unknown = Object.keys(found).find((keyword) => !KNOWN.has(keyword));
  if (unknown !== undefined) throw new Error(`the keyword ${unknown} is not compared`);
  return found;
}

/** Why values of a schema may not be what another one takes. Of an input the new one takes the old, of an answer the reverse. */
function misfits(given: Side, taking: Side, at: string, kind: Kind, seen: readonly string[] = []): string[] {
  const pair = `${String(given.schema['$ref'])} ${String(taking.schema['$ref'])}`;
  if (given.schema['$ref'] !== undefined && seen.includes(pair)) return [];
  const inside = [...seen, pair];
  const [has, takes] = [resolve(given), resolve(taking)];
  const fit = (one: unknown, other: unknown, place = at) =>
    misfits({ ...given, schema: one as Schema }, { ...taking, schema: other as Schema }, place, kind, inside);
  if (has['anyOf']) return list(has['anyOf']).flatMap((one) => fit(one, taking.schema));
  if (takes['anyOf']) {
    const tries = list(takes['anyOf']).map((one) => fit(has, one));
    // of several alternatives, the one that is nearest says what is wrong
    return tries.toSorted((a, b) => a.length - b.length)[0] ?? [];
  }
  return [
    ...valueMisfits(has, takes, at, kind),
    ...objectMisfits(has, takes, at, kind, fit),
    ...itemMisfits(has, takes, at, fit),
  ];
}

type Fit = (one: unknown, other: unknown, place?: string) => string[];

function valueMisfits(has: Schema, takes: Schema, at: string, kind: Kind): string[] {
  const types = list(takes['type']);
  const isType = (type: unknown) => types.includes(type) || (type === 'integer' && types.includes('number'));
  if (types.length > 0 && (list(has['type']).length === 0 || !list(has['type']).every(isType)))
    return [`${at}: the type was ${kind === 'input' ? from(has, takes) : from(takes, has)}`];
  const valuesOf = (schema: Schema) => ('const' in schema ? [schema['const']] : (schema['enum'] as unknown[] | undefined));
  const [values, taken] = [valuesOf(has), valuesOf(takes)];
  if (taken && !values) return [`${at}: the values are others`];
  if (kind === 'answer') return [];
  const gone = (values ?? []).filter((value) => taken && !taken.includes(value));
  const narrower = [...LEAST, ...MOST].filter((keyword) => {
    const [before, now] = [has[keyword], takes[keyword]] as [number | undefined, number | undefined];
    if (now === undefined || values) return false;
    return before === undefined || (LEAST.includes(keyword) ? now > before : now < before);
  });
  const texts = ['pattern', 'format'].filter((keyword) => takes[keyword] !== undefined && takes[keyword] !== has[keyword]);
  return [
    ...gone.map((value) => `${at}: the value ${JSON.stringify(value)} is gone`),
    ...[...narrower, ...texts].map((keyword) => `${at}: ${keyword} is narrower`),
  ];
}

const typesOf = (schema: Schema) => list(schema['type']).join('|') || 'any';
const from = (before: Schema, now: Schema) => `${typesOf(before)}, and is ${typesOf(now)}`;

function objectMisfits(has: Schema, takes: Schema, at: string, kind: Kind, fit: Fit): string[] {
  const [own, taken] = [
    (has['properties'] ?? {}) as Record<string, Schema>,
    (takes['properties'] ?? {}) as Record<string, Schema>,
  ];
  const lacking = list(takes['required']).filter((name) => !list(has['required']).includes(name));
  const shared = Object.entries(own).flatMap(([name, schema]) => (taken[name] ? fit(schema, taken[name], `${at}.${name}`) : []));
  const [additional, takesAdditional] = [has['additionalProperties'], takes['additionalProperties']];
  const isSchema = (value: unknown) => typeof value === 'object' && value !== null;
  // where nothing is said, anything is allowed
  const rest = isSchema(takesAdditional) && additional !== false ? fit(additional ?? {}, takesAdditional, `${at}.*`) : [];
  const names = takes['propertyNames']
    ? fit({ type: 'string', ...(has['propertyNames'] as Schema | undefined) }, takes['propertyNames'], `${at}.*`)
    : [];
  if (kind === 'answer') {
    const gone = Object.keys(taken).filter((name) => !own[name]);
    const missing = lacking.filter((name) => own[String(name)]);
    return [
      ...gone.map((name) => `${at}.${name} is gone`),
      ...missing.map((name) => `${at}.${String(name)} may be absent`),
      ...shared,
      ...rest,
      ...names,
    ];
  }
  const refused = takesAdditional === false ? Object.keys(own).filter((name) => !taken[name]) : [];
  const closed = takesAdditional === false && has['type'] === 'object' && additional !== false ? [`${at} is closed`] : [];
  return [
    ...lacking.map((name) => `${at}.${String(name)} is required`),
    ...refused.map((name) => `${at}.${name} is refused`),
    ...closed,
    ...shared,
    ...rest,
    ...names,
  ];
}

function itemMisfits(has: Schema, takes: Schema, at: string, fit: Fit): string[] {
  return takes['items'] ? fit(has['items'] ?? {}, takes['items'], `${at}[]`) : [];
}

function inputsOf({ parameters, body }: Contract): Record<string, Input> {
  return { ...parameters, ...(body && { body }) };
}

/** What in an interface breaks programs that were written for an earlier one. Additions do not. */
export function breakingChanges(before: Interface, now: Interface): string[] {
  const routes = new Map(Object.entries(now.operations).map(([name, { route }]) => [route, name]));
  return Object.entries(before.operations).flatMap(([name, old]) => {
    const operation = now.operations[name];
    if (!operation) return [`${name} is gone${routes.has(old.route) ? `: ${old.route} is ${routes.get(old.route)}` : ''}`];
    const takes = (one: Schema, other: Schema, at: string) =>
      misfits({ schema: one, schemas: before.schemas }, { schema: other, schemas: now.schemas }, at, 'input');
    const [inputs, nowInputs] = [inputsOf(old), inputsOf(operation)];
    const changed = Object.entries(inputs).flatMap(([key, { schema }]) => {
      const at = `${name} ${key}`;
      return nowInputs[key] ? takes(schema, nowInputs[key].schema, at) : [`${at} is refused`];
    });
    const closed = old.isOpen && !operation.isOpen ? [`${name} needs credentials`] : [];
    const required = Object.entries(nowInputs).filter(([key, { required: isRequired }]) => isRequired && !inputs[key]?.required);
    const answers = Object.entries(old.answers).flatMap(([status, schema]) => {
      const at = `${name} ${status}`;
      if (!(status in operation.answers)) return [`${at} is gone`];
      const answer = operation.answers[status] ?? null;
      if (schema === null) return [];
      if (answer === null) return [`${at} has no body`];
      return misfits({ schema: answer, schemas: now.schemas }, { schema, schemas: before.schemas }, at, 'answer');
    });
    return [
      ...(operation.route === old.route ? [] : [`${name} was ${old.route}, and is ${operation.route}`]),
      ...closed,
      ...changed,
      ...required.map(([key]) => `${name} ${key} is required`),
      ...answers,
    ];
  });
}
