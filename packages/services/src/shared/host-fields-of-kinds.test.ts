import { FACES, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { made, makeRecord, recordKinds, type Input, type RecordKind } from '../../test/record-kinds.js';
import { orderModel } from '../orders/order.model.js';
import { profileModel } from '../profiles/profile.model.js';

const fields = z.object({
  ref: z.string().max(40).optional(),
  rank: z.number().int().optional(),
  marks: z.array(z.string()).optional(),
});
const app = fixture(() => startTestServer({ code: { fields: Object.fromEntries(NAMES.map((name) => [name, fields])) } }));
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());
const KINDS: Record<string, RecordKind> = recordKinds(app, admin, ann);
const NAMES = Object.keys(KINDS);

const invalid = { ok: false, status: 400, message: 'Validation Error' };

describe.each(FACES)('over %s, the fields that a host declares', (face) => {
  describe.each(Object.entries(KINDS))('of %s', (_, kind) => {
    const { person, procedures } = kind;
    const make = (given: Input = {}) => makeRecord(face, kind, given);
    const patch = (named: Input, change: Input) => made(face, person, procedures.patch, { ...named, ...change });
    const read = (named: Input) => made(face, person, procedures.get, named);

    it('are given at creation, changed, cleared by null, and shown by every answer', async () => {
      expect((await make()).record).toMatchObject({ ref: null, rank: null, marks: null });
      const { record, named } = await make({ ref: '$a', rank: 1 });
      expect(record).toMatchObject({ ref: '$a', rank: 1, marks: null });
      expect(await read(named)).toMatchObject({ ref: '$a', rank: 1, marks: null });
      expect(await patch(named, { ref: null, rank: 2 })).toMatchObject({ ref: null, rank: 2, marks: null });
      const { other } = kind;
      const after = { ref: null, rank: 2, marks: ['$b', 'c'] };
      expect(await patch(named, { marks: ['$b', 'c'], ...other })).toMatchObject({ ...after, ...other });
      expect(await read(named)).toMatchObject(after);
      await person.call(face, procedures.delete, named).then(async ({ ok }) => ok || admin.call(face, procedures.delete, named));
      expect(await made(face, admin, procedures.restore, named)).toMatchObject(after);
    });

    it('keep what is changed at once', async () => {
      const { named } = await make({ ref: 'a' });
      await Promise.all([{ ref: 'b' }, { rank: 3 }, { marks: ['c'] }, { metadata: { d: 4 } }].map((one) => patch(named, one)));
      expect(await read(named)).toMatchObject({ ref: 'b', rank: 3, marks: ['c'], metadata: { d: 4 } });
    });

    it('are checked, and other fields are unknown', async () => {
      const { named } = await make();
      const input = await kind.input(face);
      for (const wrong of [{ ref: 5 }, { rank: 1.5 }, { marks: 'a' }, { unknown: 1 }, { hostFields: { ref: 'a' } }]) {
        const created = kind.put ? kind.put(input, wrong) : { ...input, ...wrong };
        for (const outcome of [
          await person.call(face, procedures.create, created),
          await person.call(face, procedures.patch, { ...named, ...wrong }),
        ]) {
          expect(outcome).toMatchObject(invalid);
          expect((outcome as { data: string[] }).data.join()).toContain(Object.keys(wrong)[0]);
        }
      }
    });

    it('are asked for by $filter, $orderby and $select', async () => {
      const ref = crypto.randomUUID();
      const { named, record, listed } = await make({ ref, rank: 1 });
      const list = async (query: Input) =>
        (await made(face, person, procedures.list, { ...listed, ...query })) as unknown as { data: Input[] };
      const { data } = await list({ $filter: `ref eq '${ref}' and rank lt 5`, $orderby: 'rank desc' });
      expect(data).toMatchObject([{ id: record.id, ref, rank: 1, marks: null }]);
      expect((await list({ $filter: `ref eq '${ref}' and rank gt 5` })).data).toEqual([]);
      expect((await list({ $filter: `ref eq '${ref}'`, $select: 'rank' })).data).toEqual([{ id: record.id, rank: 1 }]);
      expect(await read({ ...named, $select: 'rank,ref' })).toEqual({ id: record.id, rank: 1, ref });
      for (const query of [{ $filter: "rank eq 'a'" }, { $orderby: 'marks' }, { $select: 'gone' }])
        expect(await person.call(face, procedures.list, { ...listed, ...query })).toMatchObject(invalid);
    });
  });

  it('are set and changed for many variants at once', async () => {
    const { id: productId } = await made(face, admin, 'products.create', { name: 'Tea', description: '' });
    const variants = [{ title: 'A', ref: 'a' }, { title: 'B' }];
    const all = (await made(face, admin, 'productVariants.createMany', { productId, variants })) as unknown as { id: string }[];
    expect(all).toMatchObject([{ ref: 'a' }, { ref: null }]);
    const change = { productId, ids: all.map(({ id }) => id), data: { rank: 1, ref: null } };
    expect(await made(face, admin, 'productVariants.patchMany', change)).toMatchObject([{ rank: 1, ref: null }, { rank: 1 }]);
  });
});

it.each([
  ['orders', orderModel],
  ['profiles', profileModel],
] as const)('indexes serve filters and orders of %s', async (_, model) => {
  const { collection } = app.storage.model(model as typeof orderModel);
  const planOf = async (filter: object, sort: Record<string, 1 | -1> = {}) =>
    JSON.stringify(
      await collection
        .find({ ...filter, deletedAt: null } as object)
        .sort(sort)
        .explain('queryPlanner'),
    );
  expect(await planOf({ 'hostFields.ref': { $eq: 'a' } })).toContain('"indexName":"hostFields.ref_');
  const plan = await planOf({}, { 'hostFields.rank': -1, _id: 1 });
  expect(plan).toContain('"indexName":"hostFields.rank_');
  expect(plan).not.toContain('"stage":"SORT"');
});
