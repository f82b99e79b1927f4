import { FACES, NOT_SIGNED_IN, NO_ID, REFUSED, fixture, startTestServer } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { valueOf } from '../../test/chat-world.js';
import { createOrganization, signUpAll } from '../../test/people.js';
import type { ProductVariant } from '../product-variants/product-variants.schemas.js';
import type { Product } from './products.schemas.js';
import { productModel } from './product.model.js';

const WHO = ['stranger', 'member', 'guest', 'manager', 'owner', 'admin'] as const;
type Who = (typeof WHO)[number];
/** Who writes for an organization. The guest has the role of the manager, and is refused what writes. */
const WRITERS: readonly Who[] = ['manager', 'owner', 'admin'];
const MEMBERS: readonly Who[] = ['member', 'guest', 'manager', 'owner', 'admin'];
/** Who may call what: of a product of the organization. */
const ALLOWED: Record<string, readonly Who[]> = {
  'products.create': WRITERS,
  'products.patch': WRITERS,
  'products.delete': WRITERS,
  'products.copy': WRITERS,
  'products.restore': ['admin'],
  'products.createMany': WRITERS,
  'products.patchMany': WRITERS,
  'products.deleteMany': WRITERS,
  'products.copyMany': WRITERS,
  'products.imageUploadUrl': WRITERS,
  'products.addImage': WRITERS,
  'products.removeImage': WRITERS,
  'products.listOfOrganization': MEMBERS,
  'productVariants.create': WRITERS,
  'productVariants.get': WHO,
  'productVariants.patch': WRITERS,
  'productVariants.delete': WRITERS,
  'productVariants.restore': ['admin'],
  'productVariants.createMany': WRITERS,
  'productVariants.patchMany': WRITERS,
  'productVariants.deleteMany': WRITERS,
};
const OPEN = ['products.get', 'products.list', 'productVariants.list'];

const app = fixture(startTestServer);
const people = fixture(() => signUpAll(app, WHO));
let organizationId: string;
/** Of the stranger, who is nobody in the other. */
let elsewhere: string;
let mine: Product;
let theirs: Product;
let nobodys: Product;
const create = (fields: object) =>
  people.admin.rest('POST', '/products', { name: 'Lamp', description: '', ...fields }).expect<Product>(201);
beforeAll(async () => {
  organizationId = await createOrganization(people.owner, { member: [people.member], admin: [people.guest, people.manager] });
  elsewhere = await createOrganization(people.stranger);
  [mine, theirs, nobodys] = [await create({ organizationId }), await create({ organizationId: elsewhere }), await create({})];
});

/** What a procedure is called with for a product; nothing of it is missing, and nothing in it is good enough to be done. */
function inputOf(name: string, product: Product): Record<string, unknown> {
  const bad = { foo: 1 };
  const { organizationId: organization, id: productId } = product;
  switch (name) {
    case 'products.create':
      return { organizationId: organization, ...bad };
    case 'products.createMany':
      return { products: [{ organizationId: organization, ...bad }] };
    case 'products.patchMany':
      return { ids: [productId], data: bad };
    // a second one would be too much
    case 'products.deleteMany':
    case 'products.copyMany':
      return { ids: [productId, productId] };
    case 'products.listOfOrganization':
      return { organizationId: organization, page: 0 };
    case 'productVariants.createMany':
      return { productId, variants: [bad] };
    case 'productVariants.patchMany':
      return { productId, ids: [], data: bad };
    case 'productVariants.deleteMany':
      return { productId, ids: [] };
    // acts without a body: over REST nothing can be wrong but what is in the path
    case 'products.copy':
    case 'products.restore':
    case 'products.delete':
      return { productId, ...bad };
    default:
      return { productId, productVariantId: NO_ID, ...bad };
  }
}

describe.each(FACES)('over %s', (face) => {
  const called = (who: Who, name: string, product: Product) => people[who].call(face, name, inputOf(name, product));

  it.each(Object.keys(ALLOWED).filter((name) => name !== 'products.copy'))(
    '%s is open to exactly the permitted callers',
    async (name) => {
      expect(await app.call(face, name, inputOf(name, mine))).toEqual(NOT_SIGNED_IN);
      const statuses: Partial<Record<Who, number>> = {};
      for (const who of WHO) statuses[who] = ((await called(who, name, mine)) as { status: number }).status;
      const seen = Object.fromEntries(WHO.map((who) => [who, statuses[who] !== 403]));
      expect(Object.values(statuses).every((status) => [400, 403, 404].includes(status))).toBe(true);
      expect(seen).toEqual(Object.fromEntries(WHO.map((who) => [who, ALLOWED[name]?.includes(who) ?? false])));
    },
  );

  const WRITING = Object.keys(ALLOWED).filter((name) => !['products.listOfOrganization', 'productVariants.get'].includes(name));
  it.each(WRITING)('%s is refused for products of others, without organization, and missing ones', async (name) => {
    const missing = { ...theirs, id: NO_ID, organizationId: NO_ID };
    for (const product of [theirs, nobodys, missing])
      for (const who of ['owner', 'manager'] as const) expect(await called(who, name, product)).toEqual(REFUSED);
  });

  it.each(OPEN)('%s is open to anybody', async (name) => {
    const input = name === 'products.list' ? {} : { productId: mine.id };
    expect(await app.call(face, name, input)).toMatchObject({ ok: true });
    for (const who of WHO) expect(await people[who].call(face, name, input)).toMatchObject({ ok: true });
  });

  it('managers of an organization write its products and variants, and no others', async () => {
    const { manager } = people;
    const call = (procedure: string, input: object) => manager.call(face, procedure, { ...input });
    const fields = { name: 'Lamp', description: '', organizationId };
    const own = (await call('products.create', fields)) as { ok: true; value: Product };
    const productId = own.value.id;
    expect(own.value.organizationId).toBe(organizationId);
    expect(await call('products.patch', { productId, name: 'Light' })).toMatchObject({ ok: true });
    expect(await call('products.copy', { productId })).toMatchObject({ ok: true, value: { organizationId } });
    expect(await call('productVariants.create', { productId, title: 'Red' })).toMatchObject({ ok: true });
    expect(await call('products.patchMany', { ids: [productId, mine.id], data: { name: 'Light' } })).toMatchObject({ ok: true });
    for (const other of [theirs, nobodys]) {
      const ids = [productId, other.id];
      expect(await call('products.patchMany', { ids, data: { name: 'x' } })).toEqual(REFUSED);
      expect(await call('products.copyMany', { ids })).toEqual(REFUSED);
      expect(await call('products.deleteMany', { ids })).toEqual(REFUSED);
      const products = [fields, { ...fields, organizationId: other.organizationId }];
      expect(await call('products.createMany', { products })).toEqual(REFUSED);
    }
    expect(await call('products.delete', { productId })).toEqual({ ok: true });
  });

  it('who manages many organizations writes products of all of them in one call', async () => {
    const owner = await app.signUp();
    const organizationIds = await Promise.all(Array.from({ length: 11 }, () => createOrganization(owner)));
    const products = organizationIds.map((id) => ({ name: 'Lamp', description: '', organizationId: id }));
    const made = valueOf(await owner.call(face, 'products.createMany', { products })) as Product[];
    const ids = made.map(({ id }) => id);
    const change = (more: string[]) =>
      owner.call(face, 'products.patchMany', { ids: [...ids, ...more], data: { name: 'Light' } });
    expect(await change([theirs.id])).toEqual(REFUSED);
    expect(await change([])).toMatchObject({ ok: true });
  });

  it('no manager gives a product away or takes one over', async () => {
    for (const given of [elsewhere, organizationId, null]) {
      const input = { productId: mine.id, organizationId: given };
      expect(await people.owner.call(face, 'products.patch', input)).toEqual(REFUSED);
      const many = { ids: [mine.id], data: { organizationId: given } };
      expect(await people.owner.call(face, 'products.patchMany', many)).toEqual(REFUSED);
    }
    expect((await app.storage.model(productModel).findById(mine.id).lean())?.organizationId).toBe(organizationId);
    const moved = await create({ organizationId: elsewhere });
    const input = { productId: moved.id, organizationId };
    expect(await people.admin.call(face, 'products.patch', input)).toMatchObject({ ok: true, value: { organizationId } });
  });

  it('a variant is written through its own product only, even by a manager of another', async () => {
    const variant = await people.admin
      .rest('POST', `/products/${theirs.id}/variants`, { title: 'Red' })
      .expect<ProductVariant>(201);
    const through = { productId: mine.id, productVariantId: variant.id };
    const missing = { ok: false, status: 404, message: 'Product variant not found' };
    expect(await people.owner.call(face, 'productVariants.patch', { ...through, title: 'x' })).toEqual(missing);
    expect(await people.owner.call(face, 'productVariants.delete', through)).toEqual(missing);
    const many = { productId: mine.id, ids: [variant.id] };
    const someMissing = { ...missing, message: 'Product variants not found' };
    expect(await people.owner.call(face, 'productVariants.patchMany', { ...many, data: { title: 'x' } })).toEqual(someMissing);
    expect(await people.owner.call(face, 'productVariants.deleteMany', many)).toEqual(someMissing);
  });
});
