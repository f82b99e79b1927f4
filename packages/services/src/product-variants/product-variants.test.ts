import { FACES, NO_ID, OK, failing, fixture, startTestServer } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ProductVariant } from './product-variants.schemas.js';

const invalid = (...data: string[]) => ({ ...failing(400, 'Validation Error'), data });
const MISSING = failing(404, 'Product variant not found');
const SOME_MISSING = failing(404, 'Product variants not found');
const NO_PRODUCT = failing(404, 'Product not found');

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
let productId: string;
let elsewhere: string;
beforeAll(async () => {
  const products = ['Lamp', 'Table'].map((name) => ({ name, description: '' }));
  const made = await admin.rest('POST', '/products/batch', products).expect<{ id: string }[]>(201);
  [productId = '', elsewhere = ''] = made.map(({ id }) => id);
});

const eur = (amount: number) => ({ amount, currency: 'EUR' });
const create = (fields: object = {}, of = productId) =>
  admin.rest('POST', `/products/${of}/variants`, { title: 'Red', ...fields }).expect<ProductVariant>(201);

describe.each(FACES)('a variant over %s', (face) => {
  const call = (procedure: string, productVariantId: string, input: object = {}) =>
    admin.call(face, `productVariants.${procedure}`, { productId, productVariantId, ...input });

  it('is created in the product of the path, with a title and optional fields', async () => {
    const given = {
      title: 'Red',
      description: 'As fire',
      sku: 'R-1',
      price: { ...eur(9.99), taxIncluded: true },
    };
    const outcome = await admin.call(face, 'productVariants.create', { productId, ...given });
    const { value } = outcome as { value: ProductVariant };
    const { id, createdAt } = value;
    const price = { ...given.price, taxable: null };
    expect(value).toEqual({ ...given, price, metadata: {}, imageIds: [], id, productId, createdAt, updatedAt: createdAt });
    expect(await call('get', id)).toEqual(outcome);
    expect(await create()).toMatchObject({ description: null, sku: null, imageIds: [], price: null });
    expect(await call('create', NO_ID, { title: 'x' })).toMatchObject({ status: 400 });
    expect(await admin.call(face, 'productVariants.create', { productId: NO_ID, title: 'x' })).toEqual(NO_PRODUCT);
  });

  it('is changed in the given fields; its price is merged, null clears optional fields', async () => {
    const { id } = await create({ sku: 'R-1', price: eur(1) });
    expect(await call('patch', id, { price: { amount: 2.5 }, sku: null })).toMatchObject({
      ok: true,
      value: { title: 'Red', sku: null, price: eur(2.5) },
    });
    expect(await call('patch', id, { price: { amount: 2.555 } })).toEqual(
      invalid('request body/price/amount must NOT have more than 2 decimals'),
    );
    expect(await call('patch', id)).toEqual(failing(400, 'Failed to update product variant'));
    expect(await call('patch', id, { title: null })).toEqual(invalid('request body/title must be string'));
  });

  it('is reached through its own product only', async () => {
    const { id } = await create();
    for (const [procedure, input] of [
      ['get', {}],
      ['patch', { title: 'x' }],
      ['delete', {}],
      ['restore', {}],
    ] as const) {
      // prettier-ignore
      expect(await call(procedure, id, { productId: elsewhere, ...input })).toEqual(MISSING);
      expect(await call(procedure, id, { productId: NO_ID, ...input })).toEqual(MISSING);
      expect(await call(procedure, NO_ID, input)).toEqual(MISSING);
    }
    expect(await call('get', id)).toMatchObject({ value: { title: 'Red' } });
  });

  it('is soft-deleted and restored', async () => {
    const { id } = await create();
    expect(await call('delete', id)).toEqual(OK);
    for (const procedure of ['get', 'delete']) expect(await call(procedure, id)).toEqual(MISSING);
    expect(await call('restore', id)).toMatchObject({ ok: true, value: { id, title: 'Red' } });
    expect(await call('restore', id)).toEqual(MISSING);
  });

  it('is listed for anybody within its product, as lists are', async () => {
    const [own] = await admin.rest('POST', '/products/batch', [{ name: 'x', description: '' }]).expect<{ id: string }[]>(201);
    const input = { productId: own?.id };
    const bulk = Array.from({ length: 5 }, (_, n) => ({ title: `Size ${n}` }));
    await admin.rest('POST', `/product/${own?.id}/variants/bulk`, bulk).expect(201);
    const answer = await app.call(face, 'productVariants.list', { ...input, $filter: "title eq 'Size 3'" });
    expect(answer).toMatchObject({ ok: true, value: { data: [{ title: 'Size 3' }] } });
    expect(JSON.stringify(answer)).not.toMatch(/writer|deletionId|restoration/);
    expect(await app.call(face, 'productVariants.list', { productId: NO_ID })).toEqual(NO_PRODUCT);
  });
});

describe.each(FACES)('many variants over %s', (face) => {
  const call = (procedure: string, input: object, of = productId) =>
    admin.call(face, `productVariants.${procedure}`, { productId: of, ...input });

  it('are created, changed and deleted together, in their order', async () => {
    const variants = ['a', 'b', 'c'].map((title) => ({ title, price: eur(1) }));
    const { value } = (await call('createMany', { variants })) as { value: ProductVariant[] };
    expect(value).toMatchObject(variants.map((one) => ({ ...one, productId })));
    const ids = value.map(({ id }) => id).toReversed();
    const changed = await call('patchMany', { ids, data: { sku: 'S', price: { amount: 0.5 } } });
    expect(changed).toMatchObject({ value: ['c', 'b', 'a'].map((title) => ({ title, sku: 'S', price: eur(0.5) })) });
    expect(await call('deleteMany', { ids })).toEqual(OK);
    expect(await call('deleteMany', { ids })).toEqual(SOME_MISSING);
    const [id = ''] = ids;
    expect(await call('restore', { productVariantId: id })).toMatchObject({ ok: true, value: { id } });
  });

  it('all stay unchanged if one is missing, of another product, or invalid', async () => {
    const [euros, yen] = [await create({ price: eur(1.5) }), await create({ price: { amount: 1, currency: 'JPY' } })];
    const other = await create({}, elsewhere);
    for (const ids of [
      [euros.id, NO_ID],
      [euros.id, other.id],
    ]) {
      // prettier-ignore
      expect(await call('patchMany', { ids, data: { title: 'x' } })).toEqual(SOME_MISSING);
      expect(await call('deleteMany', { ids })).toEqual(SOME_MISSING);
    }
    const ids = [euros.id, yen.id];
    expect(await call('patchMany', { ids, data: { price: { amount: 0.5 } } })).toEqual(
      invalid('request body/data/price/amount must NOT have more than 0 decimals'),
    );
    expect(await call('patchMany', { ids, data: {} })).toEqual(failing(400, 'Failed to update product variants'));
    expect(await call('createMany', { variants: [{ title: 'x' }] }, NO_ID)).toEqual(NO_PRODUCT);
    expect(await call('createMany', { variants: [{ title: 'x' }, { title: '' }] })).toEqual(
      invalid('request body/1/title must NOT have fewer than 1 characters'),
    );
    for (const before of [euros, yen])
      expect(await call('get', { productVariantId: before.id })).toEqual({ ok: true, value: before });
  });

  it('are from 1 to 100, each once', async () => {
    const many = Array.from({ length: 101 }, () => crypto.randomUUID());
    expect(await call('deleteMany', { ids: [] })).toEqual(invalid('request body must NOT have fewer than 1 items'));
    expect(await call('deleteMany', { ids: many })).toEqual(invalid('request body must NOT have more than 100 items'));
    expect(await call('patchMany', { ids: [NO_ID, NO_ID], data: {} })).toEqual(
      invalid('request body/ids/1 must NOT be repeated'),
    );
    const variants = many.map((title) => ({ title }));
    expect(await call('createMany', { variants })).toEqual(invalid('request body must NOT have more than 100 items'));
    expect(await call('createMany', { variants: variants.slice(1) })).toMatchObject(OK);
  });
});
