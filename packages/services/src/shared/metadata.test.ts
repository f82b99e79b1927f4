import { FACES, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { productModel } from '../products/product.model.js';

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());

type Answer = { value: { id: string; metadata: Record<string, unknown> } };
const invalid = (problem: string) => ({ ok: false, status: 400, message: 'Validation Error', data: [problem] });

describe.each(FACES)('over %s, metadata', (face) => {
  const call = async (procedure: string, input: Record<string, unknown>) => admin.call(face, procedure, input);
  const create = async (metadata?: object) =>
    ((await call('products.create', { name: 'Tea', description: '', ...(metadata && { metadata }) })) as Answer).value;
  const patch = (productId: string, metadata: object) => call('products.patch', { productId, metadata });
  const read = async (productId: string) => ((await call('products.get', { productId })) as Answer).value.metadata;

  it('is merged by a change, in which null removes a key', async () => {
    expect((await create()).metadata).toEqual({});
    const { id } = await create({ erp: 'E1', weight: 2.5, isFragile: true });
    expect(await patch(id, { erp: 'E2', weight: null, gone: null })).toMatchObject({ ok: true });
    expect(await read(id)).toEqual({ erp: 'E2', isFragile: true });
  });

  it('keeps what callers change at once', async () => {
    const { id } = await create();
    const keys = Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`key${n}`, n]));
    await Promise.all(Object.entries(keys).map(([key, value]) => patch(id, { [key]: value })));
    expect(await read(id)).toEqual(keys);
  });

  it('finds records by a key, but neither sorts nor groups them', async () => {
    const erp = crypto.randomUUID();
    const { id } = await create({ erp, size: 7 });
    for (const $filter of [`metadata.erp eq '${erp}'`, `metadata.erp in ('${erp}') and metadata.size gt 6`])
      expect(await call('products.list', { $filter })).toMatchObject({ value: { data: [{ id }] } });
    const unknown = (parameter: string, offset: number) =>
      invalid(`query parameter '${parameter}' has the unknown property 'metadata.erp' at offset ${offset}`);
    expect(await call('products.list', { $orderby: 'metadata.erp' })).toEqual(unknown('$orderby', 0));
    expect(await call('products.list', { $apply: 'groupby((metadata.erp))' })).toEqual(unknown('$apply', 9));
    expect(await call('products.list', { $apply: "filter(metadata.erp eq 'x')" })).toEqual(unknown('$apply', 7));
    for (const $filter of ['metadata eq 1', 'metadata.a.b eq 1', 'metadata.__proto__ eq 1'])
      expect(await call('products.list', { $filter })).toMatchObject({ ok: false, status: 400 });
  });

  it.each<[string, object, string]>([
    ['51 keys', Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, n])), ' must NOT have more than 50 keys'],
    ['a key with a dot', { 'a.b': 1 }, ' must have keys of up to 40 letters, digits and _'],
    ['a key of every object', { constructor: 1 }, ' must have keys of up to 40 letters, digits and _'],
    ['a key of 41 characters', { ['k'.repeat(41)]: 1 }, ' must have keys of up to 40 letters, digits and _'],
    ['a text of 501 characters', { a: 'x'.repeat(501) }, '/a must NOT have more than 500 characters'],
    ['an object', { a: {} }, '/a must match one of the allowed shapes'],
  ])('is refused with %s', async (_, metadata, problem) => {
    const refused = invalid(`request body/metadata${problem}`);
    expect(await call('products.create', { name: 'Tea', description: '', metadata })).toEqual(refused);
  });

  it('has at most 50 keys after a change too', async () => {
    const { id } = await create(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, n])));
    expect(await patch(id, { more: 1 })).toEqual(invalid('request body/metadata must NOT have more than 50 keys'));
    expect(await patch(id, { more: 1, k0: null })).toMatchObject({ ok: true });
  });
});

it('a filter by a key reads the index of keys', async () => {
  const { collection } = app.storage.model(productModel);
  const plan = await collection.find({ 'metadata.erp': { $eq: 'E1' }, deletedAt: null } as object).explain('queryPlanner');
  const { winningPlan } = (plan as { queryPlanner: { winningPlan: object } }).queryPlanner;
  expect(JSON.stringify(winningPlan)).toContain('"indexName":"metadata.$**_1');
});
