import { FACES, NO_ID, OK, failing, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import type { ProductVariant } from '../product-variants/product-variants.schemas.js';
import type { Product } from './products.schemas.js';
import { productModel } from './product.model.js';

const invalid = (...data: string[]) => ({ ...failing(400, 'Validation Error'), data });
const MISSING = failing(404, 'Product not found');
const SOME_MISSING = failing(404, 'Products not found');

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());

const lamp = { name: 'Lamp', description: 'Gives light' };
const usd = (amount: number) => ({ amount, currency: 'USD' });
const taxes = { taxIncluded: null, taxable: null };
const create = (fields: object = {}) => admin.rest('POST', '/products', { ...lamp, ...fields }).expect<Product>(201);
async function newCategory(): Promise<string> {
  return (await admin.rest('POST', '/categories', lamp).expect<{ id: string }>(201)).id;
}
async function newOrganization(): Promise<string> {
  const organization = { name: crypto.randomUUID(), description: '', contact_email: 'a@example.org' };
  return (await admin.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201)).id;
}

describe.each(FACES)('a product over %s', (face) => {
  const call = (procedure: string, productId: string, input: object = {}) =>
    admin.call(face, `products.${procedure}`, { productId, ...input });

  it('is created with its references, and read by anybody', async () => {
    const categoryId = await newCategory();
    const items = [{ key: 'watts', value: '5' }];
    const { id: attributeId } = await admin.rest('POST', '/attributes', { name: 'Power', items }).expect<{ id: string }>(201);
    const organizationId = await newOrganization();
    const named = { organizationId, categoryIds: [categoryId], attributeIds: [attributeId] };
    const outcome = await admin.call(face, 'products.create', { ...lamp, price: usd(12.34), ...named });
    const { value } = outcome as { value: Product };
    const { id, createdAt } = value;
    const shown = { metadata: {}, price: { ...usd(12.34), ...taxes }, ...named, images: [] };
    expect(value).toEqual({ ...lamp, id, ...shown, createdAt, updatedAt: createdAt });
    expect(await app.call(face, 'products.get', { productId: id })).toEqual(outcome);
    expect((await app.storage.model(productModel).findById(id).lean())?.price).toMatchObject({ amount: 1234, currency: 'USD' });
    const expanded = { $filter: `id eq '${id}'`, $expand: 'categories, attributes' };
    for (const query of [expanded, { ...expanded, $top: 1 }]) {
      const answer = await app.call(face, 'products.list', query);
      const related = { categories: [{ id: categoryId, name: 'Lamp' }], attributes: [{ id: attributeId, items }] };
      const rows = 'value' in answer && (answer.value as { data?: object[]; value?: object[] });
      expect(rows && (rows.data ?? rows.value)).toMatchObject([{ id, ...related }]);
    }
  });

  it('that refers to a deleted category is listed with null in its place', async () => {
    const [kept, gone] = [await newCategory(), await newCategory()];
    const { id } = await create({ categoryIds: [gone, kept] });
    await admin.rest('DELETE', `/categories/${gone}`).expect(204);
    const answer = await app.call(face, 'products.list', { $filter: `id eq '${id}'`, $expand: 'categories' });
    expect(answer).toMatchObject({ value: { data: [{ id, categories: [null, { id: kept }] }] } });
  });

  it('cannot refer to missing records', async () => {
    for (const [fields, message] of [
      [{ categoryIds: [NO_ID] }, 'Category not found'],
      [{ attributeIds: [NO_ID] }, 'Attribute group not found'],
      [{ organizationId: NO_ID }, 'Organization not found'],
    ] as const) {
      expect(await admin.call(face, 'products.create', { ...lamp, ...fields })).toEqual(failing(404, message));
      expect(await call('patch', (await create()).id, fields)).toEqual(failing(404, message));
    }
  });

  it('is changed in the given fields: a price is merged, null clears it', async () => {
    const { id } = await create({ price: { ...usd(10), taxable: true } });
    const priceAfter = async (price: unknown) => ((await call('patch', id, { price })) as { value: Product }).value.price;
    expect(await priceAfter({ amount: 4.35 })).toEqual({ ...usd(4.35), taxIncluded: null, taxable: true });
    expect(await priceAfter({ taxIncluded: true, taxable: null })).toEqual({ ...usd(4.35), taxIncluded: true, taxable: null });
    expect(await call('patch', id, { price: { currency: 'JPY' } })).toEqual(
      invalid('request body/price/amount must NOT have more than 0 decimals'),
    );
    expect(await priceAfter({ amount: 4 })).toMatchObject(usd(4));
    expect(await priceAfter({ currency: 'JPY' })).toMatchObject({ amount: 4, currency: 'JPY' });
    expect(await call('patch', id, { price: { amount: 0.5 } })).toEqual(
      invalid('request body/price/amount must NOT have more than 0 decimals'),
    );
    expect(await priceAfter(null)).toBeNull();
    expect(await call('patch', id, { price: { amount: 1 } })).toEqual(
      invalid("request body/price must have required property 'currency'"),
    );
    expect(await call('patch', id, { description: '' })).toMatchObject({ value: { name: 'Lamp', description: '', price: null } });
    expect(await call('patch', id)).toEqual(failing(400, 'Failed to update product'));
    expect(await call('patch', NO_ID, { name: 'x' })).toEqual(MISSING);
  });

  it('is changed in its price however a host has stored that', async () => {
    const { collection } = app.storage.model(productModel);
    for (const price of [
      { currency: 'EUR', amount: 100, shown: 1 },
      { shown: 1, amount: 100, currency: 'EUR', note: 'of the host' },
      { amount: 100, currency: 'EUR' },
    ]) {
      const { id } = await create();
      await collection.updateOne({ _id: id } as object, { $set: { price } });
      expect(await call('patch', id, { price: { amount: 2 } })).toMatchObject({
        value: { price: { amount: 2, currency: 'EUR' } },
      });
    }
  });

  it('is validated, and reports all problems at once', async () => {
    const price = { amount: 1, currency: 'USD', tax: 1 };
    expect(await admin.call(face, 'products.create', { name: '', price, categoryIds: ['x'], images: [] })).toEqual(
      invalid(
        'request body/name must NOT have fewer than 1 characters',
        "request body must have required property 'description'",
        'request body/categoryIds/0 must match format "uuid"',
        "request body/price must NOT have additional properties: 'tax'",
        "request body must NOT have additional properties: 'images'",
      ),
    );
    const cents = { ...lamp, price: usd(1.234), categoryIds: [NO_ID, NO_ID] };
    expect(await admin.call(face, 'products.create', cents)).toEqual(
      invalid('request body/price/amount must NOT have more than 2 decimals', 'request body/categoryIds/1 must NOT be repeated'),
    );
    for (const bad of [usd(-1), { amount: 1, currency: 'usd' }, { amount: '1', currency: 'USD' }])
      expect(await admin.call(face, 'products.create', { ...lamp, price: bad })).toMatchObject({ status: 400 });
  });

  it('is copied without its variants', async () => {
    const original = await create({ price: usd(1) });
    await admin.rest('POST', `/products/${original.id}/variants`, { title: 'Red' }).expect(201);
    const { value } = (await call('copy', original.id)) as { value: Product };
    expect(value).toMatchObject({ ...lamp, price: original.price });
    expect(value.id).not.toBe(original.id);
    await admin.rest('GET', `/products/${value.id}/variants`).expect<{ data: [] }>(200).then(({ data }) => expect(data).toEqual([])); // prettier-ignore
    expect(await call('copy', NO_ID)).toEqual(MISSING);
  });

  it('is deleted and restored with its variants, except those deleted before', async () => {
    const { id } = await create();
    const variants = `/products/${id}/variants`;
    const kept = await admin.rest('POST', variants, { title: 'Red' }).expect<ProductVariant>(201);
    const gone = await admin.rest('POST', variants, { title: 'Blue' }).expect<ProductVariant>(201);
    await admin.rest('DELETE', `${variants}/${gone.id}`).expect(204);
    for (let round = 0; round < 2; round++) {
      expect(await call('delete', id)).toEqual(OK);
      for (const procedure of ['get', 'delete']) expect(await call(procedure, id)).toEqual(MISSING);
      await admin.rest('GET', variants).expect(404, 'Product not found');
      await admin.rest('GET', `${variants}/${kept.id}`).expect(404, 'Product variant not found');
      await admin.rest('POST', `${variants}/${kept.id}/restore`).expect(404, 'Product variant not found');
      expect(await call('restore', id)).toMatchObject({ ok: true, value: { id } });
      expect(await call('restore', id)).toEqual(MISSING);
      expect((await admin.rest('GET', variants).expect<{ data: object[] }>(200)).data).toEqual([kept]);
    }
    await admin.rest('POST', `${variants}/${gone.id}/restore`).expect(200);
    expect((await admin.rest('GET', variants).expect<{ data: object[] }>(200)).data).toHaveLength(2);
  });

  it('is asked for by its price as it is shown, with its variants', async () => {
    const organizationId = await newOrganization();
    const made = [];
    for (const price of [usd(0.1), usd(0.2), { amount: 300, currency: 'JPY' }, null])
      made.push(await create({ organizationId, price }));
    const [cheap, dear, yen, free] = made.map(({ id }) => id) as [string, string, string, string];
    const ask = async (query: object) => {
      const outcome = await admin.call(face, 'products.listOfOrganization', { organizationId, ...query });
      return (outcome as { value: { data?: Product[]; value?: object[] } }).value;
    };
    const idsOf = async (query: object) => (await ask(query)).data?.map(({ id }) => id);
    expect(await idsOf({ $filter: "price.amount le 0.2 and price.currency eq 'USD'", $orderby: 'price.amount' })).toEqual([
      cheap,
      dear,
    ]);
    expect(await idsOf({ $orderby: 'price.amount desc' })).toEqual([yen, dear, cheap, free]);
    expect(await idsOf({ $filter: 'price.amount eq null' })).toEqual([free]);
    const $apply = 'filter(price.amount ne null) then groupby((price.currency), aggregate(price.amount with sum as sum))';
    expect(await ask({ $apply, $orderby: 'sum' })).toMatchObject({
      value: [
        { price: { currency: 'USD' }, sum: 0.3 },
        { price: { currency: 'JPY' }, sum: 300 },
      ],
    });

    await call('patch', dear, { price: { amount: 0.75 } });
    expect(await idsOf({ $filter: "price.amount gt 0.5 and price.currency eq 'USD'" })).toEqual([dear]);
    await admin.rest('POST', `/products/${yen}/variants`, { title: 'Big', price: { amount: 700, currency: 'JPY' } }).expect(201);
    await admin.rest('POST', `/products/${yen}/variants`, { title: 'Small', price: { amount: 70, currency: 'JPY' } }).expect(201);
    const variants = await app.call(face, 'productVariants.list', { productId: yen, $filter: 'price.amount gt 70.5' });
    expect(variants).toMatchObject({ value: { data: [{ title: 'Big' }], metadata: { pagination: { total: 1 } } } });
  });

  it('is listed for anybody, and by its organization, as lists are', async () => {
    const organizationId = await newOrganization();
    for (let n = 0; n < 5; n++) {
      await create({ organizationId });
      app.clock.advance(1);
    }
    await create();
    const input = { organizationId };
    const all = (await app.call(face, 'products.list', { $filter: `organizationId eq '${organizationId}'` })) as { value: { data: object[] } }; // prettier-ignore
    expect(await admin.call(face, 'products.listOfOrganization', input)).toMatchObject({ value: { data: all.value.data } });
    expect(JSON.stringify(all)).not.toMatch(/writer|deletionId|restoration/);
  });
});

describe.each(FACES)('many products over %s', (face) => {
  const call = (procedure: string, input: object) => admin.call(face, `products.${procedure}`, { ...input });
  const read = async (ids: string[]) =>
    Promise.all(ids.map(async (productId) => (await app.call(face, 'products.get', { productId })).ok));

  it('are created, changed, copied and deleted together, in their order', async () => {
    const products = ['a', 'b', 'c'].map((name) => ({ ...lamp, name, price: usd(1) }));
    const { value } = (await call('createMany', { products })) as { value: Product[] };
    expect(value).toMatchObject(products);
    const ids = value.map(({ id }) => id).toReversed();
    const data = { description: 'New', price: { amount: 2.5 } };
    const changed = (await call('patchMany', { ids, data })) as { value: Product[] };
    expect(changed.value).toMatchObject(['c', 'b', 'a'].map((name) => ({ name, description: 'New', price: usd(2.5) })));
    const copies = (await call('copyMany', { ids })) as { value: Product[] };
    expect(copies.value).toMatchObject(['c', 'b', 'a'].map((name) => ({ name, description: 'New' })));
    expect(await call('deleteMany', { ids })).toEqual(OK);
    expect(await read([...ids, ...copies.value.map(({ id }) => id)])).toEqual([false, false, false, true, true, true]);
  });

  it('all stay unchanged if one is missing or invalid', async () => {
    const [first, yen] = [await create({ price: usd(1.5) }), await create({ price: { amount: 1, currency: 'JPY' } })];
    const ids = [first.id, yen.id];
    const withMissing = [first.id, NO_ID];
    expect(await call('patchMany', { ids: withMissing, data: { name: 'x' } })).toEqual(SOME_MISSING);
    expect(await call('deleteMany', { ids: withMissing })).toEqual(SOME_MISSING);
    expect(await call('copyMany', { ids: withMissing })).toEqual(SOME_MISSING);
    expect(await call('patchMany', { ids, data: { price: { amount: 0.5 } } })).toEqual(
      invalid('request body/data/price/amount must NOT have more than 0 decimals'),
    );
    expect(await call('patchMany', { ids, data: {} })).toEqual(failing(400, 'Failed to update products'));
    const products = [lamp, { ...lamp, categoryIds: [NO_ID] }];
    expect(await call('createMany', { products })).toEqual(failing(404, 'Category not found'));
    for (const before of [first, yen])
      expect(await app.call(face, 'products.get', { productId: before.id })).toEqual({ ok: true, value: before });
  });

  it('are refused, and stay unchanged, where they are too large to be written together', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 49 }, (_, n) => [`key${n}`, '茶'.repeat(500)]));
    const made = await app.tandem.services.products.createMany(Array.from({ length: 60 }, () => ({ ...lamp, metadata })));
    const ids = made.map(({ id }) => id);
    const change = (some: string[]) => call('patchMany', { ids: some, data: { name: 'Tea', metadata: { x: 1 } } });
    expect(await change(ids)).toEqual(failing(413, 'Products are too large to be written together'));
    expect(await app.call(face, 'products.get', { productId: ids[0] })).toMatchObject({ value: { name: 'Lamp', metadata } });
    expect(await change(ids.slice(30))).toMatchObject(OK);
  });

  it('are from 1 to 100, each once', async () => {
    const many = Array.from({ length: 101 }, () => crypto.randomUUID());
    for (const procedure of ['deleteMany', 'copyMany']) {
      expect(await call(procedure, { ids: [] })).toEqual(invalid('request body must NOT have fewer than 1 items'));
      expect(await call(procedure, { ids: many })).toEqual(invalid('request body must NOT have more than 100 items'));
      expect(await call(procedure, { ids: [NO_ID, NO_ID] })).toEqual(invalid('request body/1 must NOT be repeated'));
    }
    expect(await call('patchMany', { ids: many, data: {} })).toEqual(
      invalid('request body/ids must NOT have more than 100 items'),
    );
    expect(await call('createMany', { products: [] })).toEqual(invalid('request body must NOT have fewer than 1 items'));
  });
});

it('prices of lines are looked up for live products and variants alone, the variant’s first', async () => {
  const { products } = app.tandem.services;
  const organizationId = await newOrganization();
  const [product, bare, deleted] = [await create({ price: usd(10), organizationId }), await create(), await create()];
  const variant = (fields: object) =>
    admin.rest('POST', `/products/${product.id}/variants`, { title: 'Red', ...fields }).expect<ProductVariant>(201);
  const [priced, plain] = [await variant({ price: usd(0.1) }), await variant({})];
  await admin.rest('DELETE', `/products/${deleted.id}`).expect(204);
  const known = { missing: null, organizationId, name: 'Lamp' };
  const lines = [
    { productId: product.id },
    { productId: product.id, variantId: priced.id },
    { productId: product.id, variantId: plain.id },
    { productId: bare.id },
    { productId: bare.id, variantId: priced.id },
    { productId: deleted.id },
    { productId: product.id, variantId: NO_ID },
  ];
  expect(await products.priceOf(lines)).toMatchObject([
    { ...known, price: { amount: 1000, currency: 'USD' }, variantTitle: null },
    { ...known, price: { amount: 10 }, variantTitle: 'Red' },
    { ...known, price: { amount: 1000 }, variantTitle: 'Red' },
    { missing: null, price: null, organizationId: null },
    { missing: 'variant' },
    { missing: 'product' },
    { missing: 'variant' },
  ]);
  expect(await products.priceOf([])).toEqual([]);
});
