import { randomUUID } from 'node:crypto';
import { resolveSchema, type JsonSchema } from '@tandem/testing';
import type { OpenApiDocument } from '@tandem/core';
import * as fc from 'fast-check';
import { GONE, SELF, type KnownValues } from './known-values.js';

/** Arrays have this many items at most, but for now and then one of the greatest length. */
const ITEMS = 4;
const LONGEST_TEXT = 10_000;

/** Makes arbitraries of values that schemas of a document take: usual ones, the bounds, and ids of what exists. */
export function createSchemaValues(document: OpenApiDocument, values: KnownValues) {
  function idOf(key: string, path: string): fc.Arbitrary<string> {
    const orNew = (id: unknown) => (id ?? randomUUID()) as string;
    const kind = values.kindOf(key, path);
    return fc.oneof(
      { weight: path.endsWith('/restore') ? 24 : 0, arbitrary: values.known(GONE).map(orNew) },
      { weight: 24, arbitrary: values.known(kind).map(orNew) },
      { weight: kind === 'identity' ? 50 : 0, arbitrary: fc.constant(SELF) },
      { weight: 2, arbitrary: values.known('any').map(orNew) },
      { weight: 1, arbitrary: fc.uuid({ version: [4, 7] }) },
      { weight: 1, arbitrary: values.known('any').map((id) => orNew(id).toUpperCase()) },
    );
  }

  function textOf(schema: JsonSchema, key: string, path: string): fc.Arbitrary<string> {
    const { format, pattern, minLength = 0, maxLength = 200 } = schema;
    if (format === 'uuid') return idOf(key, path);
    if (format === 'email')
      return fc.oneof(
        values.known('email').map((email) => (email ?? 'a@b.co') as string),
        fc.nat().map(() => `${randomUUID()}@example.org`),
      );
    if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
    if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern, 'u'));
    const longest = Math.min(maxLength, LONGEST_TEXT);
    const free = fc.oneof(
      { weight: 4, arbitrary: fc.string({ minLength, maxLength: Math.min(longest, minLength + 20), unit: 'grapheme' }) },
      { weight: 1, arbitrary: fc.constantFrom(minLength, longest).map((length) => 'é'.repeat(length)) },
    );
    const found = values.known(/token$/i.test(key) && key !== '$nextToken' ? 'token' : key.replace('$', '').replace('newP', 'p'));
    return fc.oneof({ weight: 5, arbitrary: fc.tuple(found, free).map(([one, other]) => (one ?? other) as string) }, free);
  }

  function numberOf({ type, minimum = -1e9, maximum = 1e9 }: JsonSchema): fc.Arbitrary<number> {
    const small = fc.integer({ min: minimum, max: Math.min(maximum, Math.max(minimum, 0) + 10) });
    const bounds = fc.constantFrom(minimum, maximum);
    const whole = [{ weight: 6, arbitrary: small }, { weight: 1, arbitrary: bounds }]; // prettier-ignore
    if (type === 'integer') return fc.oneof(...whole);
    const decimal = small.map((n) => Math.min(maximum, n + 0.25));
    return fc.oneof(...whole, { weight: 1, arbitrary: decimal }, fc.double({ min: minimum, max: maximum, noNaN: true }));
  }

  function valueOf(given: JsonSchema, key: string, path: string): fc.Arbitrary<unknown> {
    const schema = resolveSchema(document, given);
    if (schema.const !== undefined) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => valueOf(one, key, path)));
    if (schema.allOf)
      return fc
        .tuple(...schema.allOf.map((one) => valueOf(one, key, path)))
        .map((parts) => Object.assign({}, ...parts) as object);
    const types = [schema.type ?? 'object'].flat();
    if (types.length > 1) return fc.oneof(...types.map((type) => valueOf({ ...schema, type }, key, path)));
    switch (types[0]) {
      case 'object': {
        const { properties = {}, required = [], additionalProperties } = schema;
        const fields = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, valueOf(one, name, path)]));
        if (Object.keys(fields).length > 0) return fc.record(fields, { requiredKeys: required });
        if (typeof additionalProperties !== 'object') return fc.constant({});
        return fc.dictionary(fc.string({ maxLength: 20 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 });
      }
      case 'array': {
        const { items = {}, minItems = 0, maxItems = ITEMS } = schema;
        const item = valueOf(items, key, path);
        const few = fc.array(item, { minLength: minItems, maxLength: Math.max(minItems, Math.min(ITEMS, maxItems)) });
        const many = fc.array(item, { minLength: maxItems, maxLength: maxItems });
        return fc.oneof({ weight: 12, arbitrary: few }, { weight: 1, arbitrary: many });
      }
      case 'integer':
      case 'number':
        return numberOf({ ...schema, type: types[0] });
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      default:
        return textOf(schema, key, path);
    }
  }
  return valueOf;
}
export type SchemaValues = ReturnType<typeof createSchemaValues>;
