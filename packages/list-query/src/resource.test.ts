import { Binary, Decimal128, Long, ObjectId } from 'mongodb';
import { describe, expect, it } from 'vitest';
import { defineListResource, showRecord, type FieldType, type ListResourceSettings } from './index.js';

describe('a declaration', () => {
  it.each<[string, object, string]>([
    ['a field that is hidden', { fields: { cost: 'number' }, hidden: ['cost'] }, 'things: cost is declared and hidden'],
    [
      'a field in something hidden',
      { fields: { 'secret.x': 'number' }, hidden: ['secret'] },
      'things: secret.x is declared and hidden',
    ],
    ['an operator as a name', { fields: { $where: 'string' } }, '$where cannot be the name of a field'],
    ['a prototype as a name', { fields: { 'a.__proto__': 'string' } }, 'a.__proto__ cannot be the name of a field'],
    ['an operator as a path', { fields: { x: { type: 'string', stored: '$where' } } }, '$where cannot be the name of a field'],
    ['an unknown type', { fields: { x: 'object' } }, 'x has the unknown type object'],
    [
      'a name for two things',
      { fields: { x: 'string' }, relations: { x: { from: 'xId' } } },
      'things: x is a field and a relation',
    ],
    [
      'an order by what is not there',
      { fields: {}, defaultOrder: 'x' },
      "query parameter 'defaultOrder' has the unknown property 'x' at offset 0",
    ],
  ])('refuses %s', (_, settings, problem) => {
    expect(() => defineListResource({ name: 'things', ...settings } as ListResourceSettings<Record<string, FieldType>>)).toThrow(
      problem,
    );
  });

  it('lists the allowed uses of each field', () => {
    const { fields } = defineListResource({
      name: 'things',
      fields: { tags: 'string[]', size: { type: 'number', stored: 'dimensions.size', sort: false }, id: { type: 'number' } },
    });
    expect(fields.get('tags')).toEqual({ name: 'tags', path: 'tags', type: 'string', isList: true, filter: true, sort: false, group: false, aggregate: false }); // prettier-ignore
    expect(fields.get('size')).toMatchObject({ path: 'dimensions.size', filter: true, sort: false, group: true });
    expect(fields.get('id')).toMatchObject({ path: '_id', type: 'number' });
  });
});

describe('a record is shown', () => {
  it("with its id, dates as text, and none of the store's own fields", () => {
    const prototype = JSON.parse('{"__proto__":{"admin":true},"at":null}') as object;
    const record = { _id: 'x', id: 'made up', __v: 1, deletedAt: null, at: new Date(0), list: [new Date(1), { at: new Date(2) }], deep: prototype }; // prettier-ignore
    const shown = showRecord(record);
    expect(shown).toEqual({
      id: 'x',
      at: '1970-01-01T00:00:00.000Z',
      list: ['1970-01-01T00:00:00.001Z', { at: '1970-01-01T00:00:00.002Z' }],
      deep: { at: null },
    });
    expect(Object.getPrototypeOf(shown['deep'])).toBe(Object.prototype);
  });

  it('as JSON values, whatever a host application has stored', () => {
    const id = '64b000000000000000000001';
    const record = { _id: new ObjectId(id), list: [null, 1, new ObjectId(id)], long: Long.fromString('9007199254740993'), decimal: Decimal128.fromString('0.10'), bytes: Uint8Array.of(1, 2, 0xff), binary: new Binary(Uint8Array.of(1, 2, 0xff)), never: new Date(NaN), inner: { __v: 1 } }; // prettier-ignore
    expect(showRecord(record)).toEqual({
      id,
      list: [null, 1, id],
      long: '9007199254740993',
      decimal: '0.10',
      bytes: 'AQL/',
      binary: 'AQL/',
      never: null,
      inner: { __v: 1 },
    });
  });
});
