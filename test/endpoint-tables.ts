import {
  authenticationErrors,
  errorsOf,
  factorErrors,
  keyErrors,
  originErrors,
  requestErrors,
  ruleErrors,
  serviceOf,
  whoOf,
  type ErrorDefinition,
  type Operation,
} from '@tandem/core';
import { SERVICES, fileErrors, listErrors } from '@tandem/services';
import { code, table } from './tables.js';

/** The status of success that docs/endpoints.md names only where another one is answered. */
const SUCCESS: Record<string, number> = { GET: 200, POST: 200, PATCH: 200, PUT: 204, DELETE: 204 };

const textOf = ({ status, message }: ErrorDefinition): string => `${status} ${message}`;
const textsOf = (errors: Record<string, ErrorDefinition> | readonly ErrorDefinition[]): string[] =>
  Object.values(errors).map(textOf);

/** The error that a service declares with this message. */
function declaredError(message: string): ErrorDefinition {
  const groups = SERVICES.flatMap(({ errors }) => Object.values<Record<string, ErrorDefinition>>(errors));
  const found = groups.flatMap((group) => Object.values(group)).find((error) => error.message === message);
  if (!found) throw new Error(`no service declares ${message}`);
  return found;
}

const { notAdmin, notSelf, invalidOwner, notOwner, notMember, notInRole } = ruleErrors;
/** The refusals that docs/endpoints.md says once: for whom, what of `whoOf` that is, and the errors. */
const REFUSALS: readonly (readonly [string, RegExp, readonly ErrorDefinition[]])[] = [
  ['an admin; no guest', /an admin|a guest/, [notAdmin]],
  ['the `identityId` or another key: the identity that it names', /the identity that \w+ names/, [notSelf]],
  ['the owner, sender, receiver or buyer', /the (owner|sender|receiver) of|the buyer/, [invalidOwner, notOwner]],
  ['an owner, admin or member of the organization', /(owner|admin|member) of the organization(?! of)/, [notMember, notInRole]],
  ["… of the order's or invitation's organization", /of the (order|invitation)'s organization/, [notMember]],
  ["… of the template's organization", /of the template's organization/, [notInRole]],
  ['a member of the channel', /a member of the channel/, [declaredError('Identity is not subscribed to the channel')]],
  ['signed in, or proven anew, within ten minutes', /proven anew/, [declaredError('A fresh proof is needed')]],
  ['a caller with a verified email', /a verified email/, [declaredError('Email is not verified')]],
];

/** The table of the refusals that follow from who may call. */
export const refusalsTable = (): string =>
  table([
    ['Callers', 'Refusal: 403'],
    ...REFUSALS.map(([who, , errors]) => [who, errors.map(({ message }) => code(message)).join(', ')]),
  ]);

const { notFound, notUploaded, otherType, alreadyAttached, beingUploaded, quotaExceeded } = fileErrors;
/** What attaching an uploaded file may answer; docs/files.md lists it. */
const ATTACHING = textsOf([notFound, notUploaded, otherType, alreadyAttached, beingUploaded, quotaExceeded]);
/** What docs/endpoints.md says of all operations. */
const GENERAL = [requestErrors, authenticationErrors, originErrors, keyErrors, factorErrors, listErrors].flatMap(textsOf);

interface Row {
  readonly name: string;
  readonly route: string;
  readonly purpose: string;
  readonly callers: string;
  readonly errors: readonly string[];
}

function rowOf(operation: Operation): Row {
  const { name, method, path, status, options } = operation;
  const who = whoOf(operation);
  const own = errorsOf(operation)
    .filter((error) => error.status < 500 && error.message !== options.failure)
    .map(textOf);
  const expected = REFUSALS.flatMap(([, says, errors]) => (says.test(who) ? textsOf(errors) : []));
  const never = expected.filter((text) => !own.includes(text));
  if (never.length > 0) throw new Error(`${name} never answers ${never.join(', ')}, which follow from "${who}"`);
  const attaches = ATTACHING.every((text) => own.includes(text));
  const said = new Set([...GENERAL, ...expected, ...(attaches ? ATTACHING : [])]);
  return {
    name: code(name),
    route: `${method} ${path}`,
    purpose: options.summary.replace(/, (newest|latest) first/, '') + (status === SUCCESS[method] ? '' : ` (${status})`),
    callers: who
      .replace(/anybody but a guest(?! or)/, 'no guest')
      .replace(/a caller that names an existing \w+; /, '')
      .replaceAll(/the identity that (\w+) names/g, 'the `$1`'),
    errors: [...new Set(own)].filter((text) => !said.has(text)).concat(attaches ? ['_file errors_'] : []),
  };
}

const namesOf = (rows: readonly Row[]): string => rows.map(({ name }) => name).join(', ');

/** The rows whose error is said once above the table, and where: by a path parameter, or by name where this spares many words. */
function sharing(rows: readonly Row[], error: string): { of: readonly Row[]; where: string } | undefined {
  const answers = ({ errors }: Row) => errors.includes(error);
  const all = rows.filter(answers);
  for (const parameter of new Set(all.flatMap(({ route }) => route.match(/\{\w+\}/g) ?? []))) {
    const routes = rows.filter(({ route }) => route.includes(parameter));
    const of = routes.filter(answers);
    const others = routes.filter((row) => !answers(row));
    if (of.length >= 3 && others.length < Math.min(of.length, 4))
      return { of, where: `routes with ${code(parameter)}${others.length === 0 ? '' : `, except ${namesOf(others)}`}` };
  }
  const words = error.split(' ').length;
  return all.length * (words - 1) >= words + 15 ? { of: all, where: namesOf(all) } : undefined;
}

/** The callers that are said once above the table, where this spares many words. */
function usualCallers(rows: readonly Row[]): string | undefined {
  const words = (callers: string) => rows.filter((row) => row.callers === callers).length * callers.split(' ').length;
  return rows.map(({ callers }) => callers).find((callers, _, all) => words(callers) >= Math.max(40, ...all.map(words)));
}

/** Errors, with what is not found named together: `404 Category, Organization not found`. */
function joinedErrors(errors: readonly string[]): string {
  const missing = errors.flatMap((text) => /^404 (.*) not found$/.exec(text)?.[1] ?? []);
  const others = errors.filter((text) => !/^404 .* not found$/.test(text));
  return [...(missing.length > 0 ? [`404 ${missing.join(', ')} not found`] : []), ...others].join('; ');
}

function sectionOf(service: string, operations: readonly Operation[]): string {
  const rows = operations.map(rowOf).toSorted((a, b) => a.route.localeCompare(b.route, 'en'));
  const usual = usualCallers(rows);
  const shared = [...new Set(rows.flatMap(({ errors }) => errors))].flatMap((error) => {
    const found = sharing(rows, error);
    return found ? [{ error, ...found }] : [];
  });
  const cells = rows.map((row) => [
    `${code(row.route)}<br>${row.name}`,
    row.purpose,
    row.callers === usual ? '' : row.callers,
    joinedErrors(row.errors.filter((text) => !shared.some(({ error, of }) => error === text && of.includes(row)))),
  ]);
  return [
    `## ${service}\n`,
    ...(usual === undefined ? [] : [`Callers by default: ${usual}.\n`]),
    ...(shared.length === 0 ? [] : [shared.map(({ error, where }) => `- ${error}: ${where}\n`).join('')]),
    table([['Route', 'Purpose', 'Callers', 'Errors'], ...cells]),
  ].join('\n');
}

/** The operations by their service, with route, who may call, success and errors. */
export const endpointTables = (operations: readonly Operation[]): string =>
  SERVICES.map(({ name: service }) =>
    sectionOf(
      service,
      operations.filter(({ name }) => serviceOf(name) === service),
    ),
  ).join('\n');
