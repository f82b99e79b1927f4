import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { validationTexts, type InputPlaces } from './validation-texts.js';

const BODY: InputPlaces = { pathKeys: ['thingId'], hasBody: true };
const QUERY: InputPlaces = { pathKeys: ['thingId'], hasBody: false };
const LIST: InputPlaces = { pathKeys: ['thingId'], hasBody: true, bodyKey: 'items' };

function textsOf(schema: z.ZodType, input: unknown, places: InputPlaces): string[] {
  return validationTexts(schema.safeParse(input).error?.issues ?? [], input, places);
}
const missing = undefined;

describe('problems of a value are worded like JSON Schema', () => {
  const rows: [text: string, schema: z.ZodType, value: unknown][] = [
    ['must be string', z.string(), 5],
    ['must be boolean', z.boolean(), 'yes'],
    ['must be integer', z.int(), 1.5],
    ['must be array', z.array(z.string()), {}],
    ['must be array', z.tuple([z.string()]), {}],
    ['must be object', z.record(z.string(), z.string()), []],
    ['must be object', z.map(z.string(), z.string()), []],
    ['must be array', z.set(z.string()), []],
    ['must be object', z.object({}), 'text'],
    ['must NOT have fewer than 2 characters', z.string().min(2), 'a'],
    ['must NOT have more than 2 characters', z.string().max(2), 'abc'],
    ['must NOT have fewer than 1 items', z.array(z.string()).min(1), []],
    ['must NOT have more than 1 items', z.array(z.string()).max(1), ['a', 'b']],
    ['must NOT have more than 1 items', z.set(z.string()).max(1), new Set(['a', 'b'])],
    ['must be >= 1', z.number().min(1), 0],
    ['must be > 1', z.number().gt(1), 1],
    ['must be <= 1', z.number().max(1), 2],
    ['must be < 1', z.number().lt(1), 1],
    ['must be multiple of 5', z.number().multipleOf(5), 7],
    ['must match format "uuid"', z.uuid(), 'x'],
    ['must match pattern "/^a+$/"', z.string().regex(/^a+$/), 'b'],
    ['must be equal to one of the allowed values: a, b', z.enum(['a', 'b']), 'c'],
    ['must be equal to one of the allowed values: 1, null', z.literal([1, null]), 'c'],
    ['must match one of the allowed shapes', z.union([z.string(), z.number()]), true],
    ['must be nice', z.string().refine(() => false, 'must be nice'), 'x'],
  ];
  it.each(rows)('%s', (text, schema, value) => {
    expect(textsOf(z.object({ field: schema }), { field: value }, BODY)).toEqual([`request body/field ${text}`]);
  });
});

describe('a problem names its place', () => {
  const Thing = z.strictObject({
    thingId: z.uuid(),
    name: z.string(),
    parts: z.array(z.strictObject({ size: z.number() })).optional(),
  });
  const id = '00000000-0000-7000-8000-000000000000';
  const Items = z.strictObject({ thingId: z.uuid(), items: z.array(z.strictObject({ size: z.number() })) });
  const rows: [where: string, schema: z.ZodType, places: InputPlaces, input: unknown, texts: string[]][] = [
    ['a path parameter', Thing, BODY, { thingId: 'x', name: 'n' }, [`path parameter 'thingId' must match format "uuid"`]],
    ['a missing path parameter', Thing, QUERY, { name: 'n' }, [`path parameter 'thingId' is required`]],
    ['a field', Thing, BODY, { thingId: id, name: 5 }, ['request body/name must be string']],
    ['a null', Thing, BODY, { thingId: id, name: null }, ['request body/name must be string']],
    ['a missing field', Thing, BODY, { thingId: id }, [`request body must have required property 'name'`]],
    ['an undefined field', Thing, BODY, { thingId: id, name: missing }, [`request body must have required property 'name'`]],
    ['a nested field', Thing, BODY, { thingId: id, name: 'n', parts: [{ size: '1' }] }, ['request body/parts/0/size must be number']],
    ['a missing nested field', Thing, BODY, { thingId: id, name: 'n', parts: [{}] }, [`request body/parts/0 must have required property 'size'`]],
    ['an unknown field', Thing, BODY, { thingId: id, name: 'n', a: 1, b: 1 }, [`request body must NOT have additional properties: 'a'`, `request body must NOT have additional properties: 'b'`]],
    ['an unknown nested field', Thing, BODY, { thingId: id, name: 'n', parts: [{ size: 1, a: 1 }] }, [`request body/parts/0 must NOT have additional properties: 'a'`]],
    ['the whole body', Thing, { pathKeys: [], hasBody: true }, 'text', ['request body must be object']],
    ['a query parameter', Thing, QUERY, { thingId: id, name: 5 }, [`query parameter 'name' must be string`]],
    ['a missing query parameter', Thing, QUERY, { thingId: id }, [`query parameter 'name' is required`]],
    ['an unknown query parameter', Thing, QUERY, { thingId: id, name: 'n', a: 1 }, [`query parameter 'a' is not allowed`]],
    ['an unknown key inside a query parameter', Thing, QUERY, { thingId: id, name: 'n', parts: [{ size: 1, a: 1 }] }, [`query parameter 'parts' must be valid`]],
    ['the whole query', Thing, { pathKeys: [], hasBody: false }, 'text', ['query parameters must be object']],
    ['a body that is a list', Items, LIST, { thingId: id, items: {} }, ['request body must be array']],
    ['an item of a body that is a list', Items, LIST, { thingId: id, items: [{}] }, [`request body/0 must have required property 'size'`]],
    ['a missing list', Items, LIST, { thingId: id }, ['request body must be array']],
    ['a key that is not allowed', z.record(z.string().min(2), z.string()), BODY, { a: 'x' }, ['request body/a must be valid']],
    ['a check of a missing field', z.object({ a: z.string().optional() }).refine(() => false, { path: ['a'], message: 'must be given' }), BODY, {}, ['request body/a must be given']],
  ]; // prettier-ignore
  it.each(rows)('%s', (_where, schema, places, input, texts) => {
    expect(textsOf(schema, input, places)).toEqual(texts);
  });

  it('missing or wrong values come before unknown keys', () => {
    const Pair = z.strictObject({ a: z.strictObject({}), b: z.string() });
    expect(textsOf(Pair, { a: { x: 1 }, b: 1, y: 1 }, BODY)).toEqual([
      'request body/b must be string',
      `request body/a must NOT have additional properties: 'x'`,
      `request body must NOT have additional properties: 'y'`,
    ]);
  });

  it('of very many problems, one more than an answer lists is kept', () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, n]));
    expect(textsOf(z.strictObject({}), many, BODY)).toHaveLength(21);
    expect(textsOf(z.array(z.string()), Array(100).fill(1), BODY)).toHaveLength(21);
  });

  it('a long name is cut after 100 characters', () => {
    const texts = (length: number) => textsOf(z.strictObject({}), { ['k'.repeat(length)]: 1 }, QUERY);
    expect(texts(100)).toEqual([`query parameter '${'k'.repeat(100)}' is not allowed`]);
    expect(texts(101)).toEqual([`query parameter '${'k'.repeat(100)}…' is not allowed`]);
  });
});
