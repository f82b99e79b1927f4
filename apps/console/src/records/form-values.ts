import { z } from 'zod/v4';
import type { Resolve, Schema } from '../reference/document.js';
import type { Operation } from '../reference/reference.js';
import type { Input, Row } from './call.js';
import { OWN, dataChanges } from './own-data.js';
import { FILE, type Control, type InputField } from './inputs.js';
import { localTime, numberOf, timeOfLocal, typedNumber } from '../texts/formats.js';
import { t } from '../texts/texts.js';

// the page's policy allows no code made of text
z.config({ jitless: true });

/** What somebody has typed or chosen: by field, as the controls hold it. */
export type Typed = { [name: string]: unknown };

/** A value as its control shows it. */
export function typedOf(value: unknown, control: Control): unknown {
  if (control.type === 'object')
    return Object.fromEntries(
      control.fields.map((field) => [field.name, typedOf((value as Row | null | undefined)?.[field.name], field.control)]),
    );
  if (control.type === 'items')
    return ((value as Row[] | null | undefined) ?? []).map((one) => typedOf(one, { type: 'object', fields: control.fields }));
  if (control.type === 'flag') return value ?? '';
  if (value === null || value === undefined) return control.type === 'records' || control.type === 'choices' ? [] : '';
  if (control.type === 'json') return JSON.stringify(value, undefined, 2);
  if (control.type === 'texts') return (value as string[]).join('\n');
  if (control.type === 'date') return localTime(new Date(value as string));
  // one that was uploaded and not sent yet; a stored one stays unless another is chosen
  if (control.type === 'file') return Object.hasOwn(value, 'objectId') ? value : '';
  return typeof value === 'number' ? typedNumber(value) : value;
}

const isEmpty = (typed: unknown) => typed === '' || typed === undefined || (Array.isArray(typed) && typed.length === 0);

/** The value that was typed; undefined where nothing was. @throws Error for what `unreadValues` names */
function valueOf(typed: unknown, { control, nullable }: InputField): unknown {
  if (control.type === 'object') {
    const value = inputOf(typed as Typed, control.fields);
    return Object.values(value).every((one) => one === null) ? (nullable ? null : undefined) : value;
  }
  if (isEmpty(typed)) return undefined;
  if (control.type === 'items') return (typed as Typed[]).map((one) => inputOf(one, control.fields));
  if (control.type === 'number') return numberOf(String(typed));
  if (control.type === 'json') return JSON.parse(typed as string);
  if (control.type === 'texts') return (typed as string).split('\n').map((line) => line.trim()).filter(Boolean); // prettier-ignore
  if (control.type === 'date') return timeOfLocal(typed as string).toISOString();
  return typed;
}

/** What was typed and is no value of its field, by path: text that is no JSON, and a time that does not exist. */
export function unreadValues(typed: Typed, fields: readonly InputField[], above = ''): [path: string, message: string][] {
  return fields.flatMap((field): [string, string][] => {
    const { name, control } = field;
    const path = `${above}${name}`;
    if (control.type === 'object') return unreadValues(typed[name] as Typed, control.fields, `${path}.`);
    if (control.type === 'items')
      return (typed[name] as Typed[]).flatMap((one, at) => unreadValues(one, control.fields, `${path}.${String(at)}.`));
    try {
      valueOf(typed[name], field);
      return [];
    } catch {
      return [[path, t(control.type === 'json' ? 'records.form.noJson' : 'records.form.noTime')]];
    }
  });
}

/** What is sent of a form that creates: what was given. */
export function inputOf(typed: Typed, fields: readonly InputField[]): Input {
  const given = fields.flatMap((field): [string, unknown][] => {
    const value = valueOf(typed[field.name], field) ?? null;
    // that there is none must be said where the operation requires it: an organization without one above it
    if (value === null) return field.required && field.nullable ? [[field.name, null]] : [];
    return field.name === FILE ? Object.entries(value as Row) : [[field.name, value]];
  });
  return Object.fromEntries(given);
}

/** The parts of an object that were emptied: what is not sent of it stays. */
function emptiedOf(typed: Typed, before: Typed, fields: readonly InputField[]): Row {
  const emptied = fields.filter(({ name, nullable }) => nullable && isEmpty(typed[name]) && !isEmpty(before[name]));
  return Object.fromEntries(emptied.map(({ name }) => [name, null]));
}

/** What is sent of a form that changes: what is another value now; null where it was emptied. */
export function changesOf(typed: Typed, before: Typed, fields: readonly InputField[]): Input {
  const changed = fields.filter(({ name }) => JSON.stringify(typed[name]) !== JSON.stringify(before[name]));
  const given = changed.flatMap((field): [string, unknown][] => {
    const value = valueOf(typed[field.name], field);
    if (OWN.test(field.name)) return [[field.name, dataChanges(valueOf(before[field.name], field), value)]];
    const { control } = field;
    if (control.type === 'object' && value)
      return [[field.name, { ...value, ...emptiedOf(typed[field.name] as Typed, before[field.name] as Typed, control.fields) }]];
    if (value !== undefined) return [[field.name, value]];
    if (['records', 'choices', 'texts', 'items'].includes(control.type)) return [[field.name, []]];
    return [[field.name, field.nullable ? null : '']];
  });
  return Object.fromEntries(given);
}

/** A schema with all references followed, as Zod reads it. */
function inlined(schema: Schema, resolve: Resolve): Schema {
  const { properties, items, anyOf, oneOf, allOf, additionalProperties, ...own } = resolve(schema);
  const all = (parts: Schema[]) => parts.map((part) => inlined(part, resolve));
  return {
    ...own,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, inlined(part, resolve)])),
    }),
    ...(items && { items: inlined(items, resolve) }),
    ...(anyOf && { anyOf: all(anyOf) }),
    ...(oneOf && { oneOf: all(oneOf) }),
    ...(allOf && { allOf: all(allOf) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'boolean' ? additionalProperties : inlined(additionalProperties, resolve),
    }),
  };
}

const FORMATS = ['email', 'url', 'uuid', 'datetime'] as const;

/** What is wrong with a value, for people. */
function problemText(issue: z.core.$ZodRawIssue): string {
  if (issue.code === 'too_small' || issue.code === 'too_big') {
    const count = Number(issue.code === 'too_small' ? issue.minimum : issue.maximum);
    const of = issue.origin === 'string' || issue.origin === 'array' ? issue.origin : 'number';
    return t(`records.problems.${issue.code}`, { of, count });
  }
  if (issue.code === 'invalid_type') return t('records.problems.type', { type: issue.expected });
  const format = issue.code === 'invalid_format' ? FORMATS.find((one) => one === issue.format) : undefined;
  return t('records.problems.format', { format: format ?? 'other' });
}

/** What is wrong with an input, by field, before it is sent: the operation's own schema says so. */
export function problemsOf(
  { body }: Operation,
  input: Input,
  fields: readonly InputField[],
  resolve: Resolve,
): Map<string, string> {
  const problems = new Map<string, string>();
  for (const { name, required, control } of fields)
    if (required && input[name] === undefined && name !== FILE && control.type !== 'object')
      problems.set(name, t('records.form.required'));
  const schema = body && inlined(body.schema, resolve);
  if (!schema?.properties) return problems;
  const { properties, ...rest } = schema;
  const given = Object.fromEntries(Object.entries(input).filter(([name]) => Object.hasOwn(properties, name)));
  const { error } = z.fromJSONSchema({ ...rest, properties } as never).safeParse(given, { error: problemText });
  for (const { path, message } of error?.issues ?? []) {
    const name = path.length > 0 ? String(path[0]) : undefined;
    if (name !== undefined && given[name] !== undefined && !problems.has(name)) problems.set(name, message);
  }
  return problems;
}
