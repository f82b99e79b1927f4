import mongoose from 'mongoose';
import { expect, it } from 'vitest';
import { present } from './index.js';

const at = new Date('2026-01-02T03:04:05.678Z');

it("a record is shown with its id first and without the store's own fields", () => {
  const shown = present({ receiverId: 'r', deletedAt: null, __v: 3, _id: 'n', createdAt: at });
  expect(JSON.stringify(shown)).toBe('{"id":"n","receiverId":"r","createdAt":"2026-01-02T03:04:05.678Z"}');
});

it('dates are shown as ISO strings with milliseconds at any depth', () => {
  const midnight = new Date(0);
  expect(present({ _id: 'n', seen: [{ at, by: { last: midnight } }, null, [at]] })).toEqual({
    id: 'n',
    seen: [{ at: at.toISOString(), by: { last: '1970-01-01T00:00:00.000Z' } }, null, [at.toISOString()]],
  });
});

it("fields written by a host are kept: every plain value, deeper fields of any name, and BSON's own types as text", () => {
  const { ObjectId, Decimal128, Long, Binary, UUID } = mongoose.mongo;
  const hex = '65a000000000000000000001';
  const uuid = '0189b5a0-7a3c-7000-8000-000000000000';
  const plain = { none: null, yes: true, n: 1.5, nested: { _id: 'kept', deletedAt: null, id: 5 } };
  const bson = {
    price: Decimal128.fromString('1.10'),
    big: Long.fromString('9007199254740993'),
    uuid: new UUID(uuid),
    bytes: new Binary(Buffer.from('ab')),
    raw: Buffer.from('ab'),
  };
  const text = { price: '1.10', big: '9007199254740993', uuid, bytes: 'YWI=', raw: 'YWI=' };
  expect(present({ _id: new ObjectId(hex), ...plain, ...bson })).toEqual({ id: hex, ...plain, ...text });
});

it('fields that a host declared are shown with the own ones, which come before those of the same name', () => {
  const record = { _id: 'n', name: 'own', at, hostFields: { id: 'x', _id: 'x', name: 'of the host', rank: 1, marks: ['a'] } };
  expect(present(record)).toEqual({ id: 'n', name: 'own', at: at.toISOString(), rank: 1, marks: ['a'] });
  expect(present({ _id: 'n', hostFields: null })).toEqual({ id: 'n' });
});

it('a stored __proto__ does not become the prototype of what is shown', () => {
  const record = JSON.parse('{"_id":"n","__proto__":{"isAdmin":true},"a":{"__proto__":{"isAdmin":true}}}') as { _id: string };
  expect(present(record)).toEqual({ id: 'n', a: {} });
  expect(Object.hasOwn(present(record), 'isAdmin') || 'isAdmin' in present(record)).toBe(false);
});
