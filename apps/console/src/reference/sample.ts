import type { Resolve, Schema } from './document.js';
import { alternativesOf, flatten } from './schema-text.js';

const BY_FORMAT: Readonly<Record<string, string>> = {
  uuid: '0198c0de-5a5a-7000-8000-2f9d1c4b7e60',
  email: 'ann@example.org',
  'date-time': '2026-01-31T12:00:00.000Z',
  date: '2026-01-31',
  uri: 'https://example.org',
};

/** A value that fits a schema: its own example, else one made of what it requires. */
export function sampleOf(schema: Schema, resolve: Resolve): unknown {
  const flat = flatten(schema, resolve);
  const { example, examples, enum: values, const: only } = flat;
  const given = example ?? examples?.[0] ?? flat.default ?? values?.[0] ?? only;
  if (given !== undefined) return given;
  const alternatives = alternativesOf(flat);
  const alternative = alternatives.find((one) => resolve(one).type !== 'null');
  if (alternative) return sampleOf(alternative, resolve);
  const [type] = [flat.type ?? (flat.properties ? 'object' : 'string')].flat();
  switch (type) {
    case 'object':
      return sampleObject(flat, resolve);
    case 'array':
      return flat.items ? [sampleOf(flat.items, resolve)] : [];
    case 'integer':
    case 'number':
      return flat.minimum ?? (flat.exclusiveMinimum === undefined ? 1 : flat.exclusiveMinimum + 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return BY_FORMAT[flat.format ?? ''] ?? 'a text'.padEnd(flat.minLength ?? 0, ' of words');
  }
}

/** The required properties; of an object without any, the first. */
function sampleObject({ properties = {}, required = [] }: Schema, resolve: Resolve): Record<string, unknown> {
  const names = Object.keys(properties);
  const chosen = required.length > 0 ? names.filter((name) => required.includes(name)) : names.slice(0, 1);
  return Object.fromEntries(chosen.map((name) => [name, sampleOf(properties[name] ?? {}, resolve)]));
}
