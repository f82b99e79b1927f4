import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineRecord, field, serverField } from './record.js';
import { Id, Line, Name } from './schemas.js';

const parcel = defineRecord('parcels', {
  fields: {
    title: field(Name, { list: 'string' }),
    note: field(Line),
    ownerId: field(Id, { fixed: true, list: { type: 'string', sort: false } }),
    parentId: field(Id.nullable()),
    tags: field(z.array(z.strictObject({ key: Name })), { optional: true }),
    open: field(z.boolean(), { optional: true }),
    weight: serverField(z.number().int(), { stored: { type: Number, default: 0 }, list: 'number' }),
    picture: field(z.strictObject({ objectId: Id }).nullable(), {
      shown: z.object({ url: z.string() }).nullable(),
      stored: false,
    }),
  },
  internal: { secret: String },
});
const id = crypto.randomUUID();

describe('a record whose fields are declared once', () => {
  it('is created with the fields that callers give; those that are optional or nullable may be left out', () => {
    const input = z.strictObject(parcel.given);
    const given = { title: 'A', note: '', ownerId: id };
    expect(input.parse(given)).toEqual(given);
    expect(input.safeParse({ ...given, title: undefined }).success).toBe(false);
    expect(input.safeParse({ ...given, parentId: null, open: true }).success).toBe(true);
    expect(input.safeParse({ ...given, open: null }).success).toBe(false);
    expect(input.safeParse({ ...given, weight: 1 }).success).toBe(false);
  });

  it('is changed in any of the fields that are not fixed, by the same rules', () => {
    const patch = z.strictObject(parcel.patch);
    expect(patch.parse({})).toEqual({});
    expect(patch.safeParse({ title: '' }).success).toBe(false);
    expect(patch.safeParse({ parentId: null }).success).toBe(true);
    expect(Object.keys(parcel.patch)).toEqual(['title', 'note', 'parentId', 'tags', 'open', 'picture']);
  });

  it('is shown with all fields, without the checks of an input, and nothing internal', () => {
    const times = { createdAt: '2026-01-31T00:00:00.000Z', updatedAt: '2026-01-31T00:00:00.000Z' };
    const stored = {
      title: '',
      note: 'x'.repeat(999),
      ownerId: 'by a host',
      parentId: null,
      tags: [{ key: '' }],
      open: false,
      weight: 3,
    };
    const row = { id, ...stored, picture: null, ...times };
    expect(parcel.schema.parse({ ...row, secret: 'kept' })).toEqual(row);
  });

  it('is stored with the types of its schemas: required, or with the default that reads as empty', () => {
    expect(parcel.stored).toEqual({
      title: { type: String, required: true },
      note: { type: String, default: '' },
      ownerId: { type: String, required: true },
      parentId: { type: String, default: null },
      tags: { type: [{ key: String, _id: false }], default: [] },
      open: { type: Boolean, default: false },
      weight: { type: Number, default: 0 },
      secret: String,
    });
  });

  it('is listed by the fields that say so, newest first, and never shows what is internal', () => {
    expect([...parcel.resource.fields.keys()]).toEqual(['id', 'title', 'ownerId', 'weight', 'createdAt', 'updatedAt']);
    expect(parcel.resource.fields.get('ownerId')?.sort).toBe(false);
    expect(parcel.resource.hidden).toContain('secret');
    expect(parcel.resource.defaultOrder.map(({ field: { name } }) => name)).toEqual(['createdAt', 'id']);
  });

  it('must say itself how a value of another type is shown and stored', () => {
    expect(() => defineRecord('parcels', { fields: { sentAt: field(z.date()) } })).toThrow(TypeError);
    const shown = z.iso.datetime();
    expect(() => defineRecord('parcels', { fields: { sentAt: field(z.date(), { shown }) } })).toThrow(TypeError);
    const stored = { type: Date, required: true };
    expect(defineRecord('parcels', { fields: { sentAt: field(z.date(), { shown, stored }) } }).stored).toEqual({
      sentAt: stored,
    });
  });
});
