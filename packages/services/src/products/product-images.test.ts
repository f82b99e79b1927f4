import {
  FACES,
  NO_ID,
  OK,
  createTestClock,
  failing,
  fixture,
  isCommand,
  startS3Server,
  startStoreProxy,
  startTestServer,
  type Person,
} from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOrganization } from '../../test/people.js';
import { upload } from '../../test/uploads.js';
import { fileModel } from '../files/file.model.js';
import type { ShownFile, UploadAddress } from '../files/files.schemas.js';
import type { ProductVariant } from '../product-variants/product-variants.schemas.js';
import { IMAGES_MAX, type Product } from './products.schemas.js';

const TYPE = 'image/png';
const NO_PRODUCT = failing(404, 'Product not found');
const NO_IMAGE = failing(404, 'Product image not found');

const clock = createTestClock();
const s3 = fixture(() => startS3Server(clock.now));
/** Two instances of one system. */
const start = (more: { mongodbUri?: string } = {}) =>
  startTestServer({ clock, files: { url: s3.url, pollMs: 3_600_000 }, ...more });
const app = fixture(() => start());
const other = fixture(() => start());
let admin: Person;
let elsewhere: Person;
let organizationId: string;
beforeAll(async () => {
  admin = await app.signUpAdmin();
  elsewhere = await other.signIn(admin.email);
  organizationId = await createOrganization(admin);
});

const create = (name = 'Lamp') => admin.rest('POST', '/products', { name, description: '', organizationId }).expect<Product>(201);
const uploadImage = (productId: string, person = admin) =>
  upload(person, `/products/${productId}/image-upload-url`, TYPE, 'picture');
async function add(productId: string): Promise<ShownFile> {
  return admin.rest('POST', `/products/${productId}/images`, await uploadImage(productId)).expect<ShownFile>(201);
}
const read = (productId: string) => admin.rest('GET', `/products/${productId}`).expect<Product>(200);
const imagesOf = async (productId: string) => (await read(productId)).images.map(({ id }) => id);
/** The requests at once, every other one on the other instance. */
const atOnce = <Answer>(count: number, request: (person: Person, n: number) => PromiseLike<Answer>) =>
  Promise.all(Array.from({ length: count }, (_, n) => request(n % 2 ? elsewhere : admin, n)));

it('a product with images is never said to be unchanged, since their addresses end; nor is one whose images have changed', async () => {
  const { id } = await create();
  const ask = async (known: string) => {
    const { status, headers } = await app.rest('GET', `/products/${id}`, undefined, { headers: { 'if-none-match': known } });
    return { status, tag: headers.get('etag') ?? '' };
  };
  const { tag: bare } = await ask('"other"');
  expect((await ask(bare)).status).toBe(304);
  const { id: imageId } = await add(id);
  const { status, tag: pictured } = await ask(bare);
  expect(status).toBe(200);
  expect((await ask(pictured)).status).toBe(200);
  await admin.rest('DELETE', `/products/${id}/images/${imageId}`).expect(204);
  const { tag: again } = await ask(pictured);
  expect((await ask(again)).status).toBe(304);
  expect(new Set([bare, pictured, again]).size).toBe(3);
});

describe.each(FACES)('an image of a product over %s', (face) => {
  const call = (procedure: string, input: Record<string, unknown>) => admin.call(face, `products.${procedure}`, input);

  it('is uploaded, added, shown with the product in the order of adding, and removed', async () => {
    const { id: productId } = await create();
    const request = { productId, contentType: TYPE, contentLength: 7 };
    const { value: address } = (await call('imageUploadUrl', request)) as { value: UploadAddress };
    await fetch(address.url, { method: 'PUT', headers: { 'content-type': TYPE }, body: 'picture' });
    const added = await call('addImage', { productId, objectId: address.objectId, type: TYPE });
    const { value: first } = added as { value: ShownFile };
    expect(Object.keys(first).sort()).toEqual(['createdAt', 'id', 'type', 'updatedAt', 'url']);
    expect(await (await fetch(first.url)).text()).toBe('picture');
    const images = [first, await add(productId)];

    expect(await call('get', { productId })).toMatchObject({ value: { images } });
    const own = { $filter: `id eq '${productId}'` };
    expect(await call('list', own)).toMatchObject({ value: { data: [{ images }] } });
    expect(await call('list', { ...own, $top: 1 })).toMatchObject({ value: { value: [{ images }] } });
    const top = await call('list', { ...own, $apply: 'groupby((name), top(1))' });
    expect(top).toMatchObject({ value: { value: [{ top: [{ images }] }] } });
    expect(await call('listOfOrganization', { organizationId, ...own })).toMatchObject({ value: { data: [{ images }] } });
    expect(await call('patch', { productId, name: 'Light' })).toMatchObject({ value: { images } });
    const bare = await create();
    const many = await call('patchMany', { ids: [bare.id, productId], data: { name: 'x' } });
    expect(many).toMatchObject({ value: [{ images: [] }, { images }] });

    const remove = () => call('removeImage', { productId, imageId: first.id });
    expect([await remove(), await remove()]).toEqual([OK, NO_IMAGE]);
    expect(await call('get', { productId })).toMatchObject({ value: { images: images.slice(1) } });
  });

  it('stays with a deleted product, and is not copied', async () => {
    const { id: productId } = await create();
    const image = await add(productId);
    expect(await call('copy', { productId })).toMatchObject({ value: { images: [] } });
    expect(await call('copyMany', { ids: [productId] })).toMatchObject({ value: [{ images: [] }] });
    expect(await call('delete', { productId })).toEqual(OK);
    await app.tandem.services.files.work();
    expect(await call('restore', { productId })).toMatchObject({ value: { images: [image] } });
    expect(await (await fetch(image.url)).text()).toBe('picture');
  });

  it('needs an existing product and an image type, and is its own', async () => {
    const [{ id: productId }, another] = [await create(), await create()];
    const given = await uploadImage(productId);
    const request = { contentType: TYPE, contentLength: 7 };
    expect(await call('imageUploadUrl', { productId: NO_ID, ...request })).toEqual(NO_PRODUCT);
    expect(await call('addImage', { productId: NO_ID, ...given })).toEqual(NO_PRODUCT);
    expect(await call('removeImage', { productId: NO_ID, imageId: NO_ID })).toEqual(NO_PRODUCT);
    expect(await call('imageUploadUrl', { productId, ...request, contentType: 'text/html' })).toMatchObject({ status: 400 });
    expect(await call('addImage', { productId, objectId: NO_ID, type: TYPE })).toEqual(failing(404, 'File not found'));
    const image = await add(another.id);
    expect(await call('removeImage', { productId, imageId: image.id })).toEqual(NO_IMAGE);
    expect(await call('removeImage', { productId: another.id, imageId: image.id })).toEqual(OK);
  });

  it('is named by variants of its product alone, and by none once it is removed', async () => {
    const [{ id: productId }, another] = [await create(), await create()];
    const [kept, gone, foreign] = [await add(productId), await add(productId), await add(another.id)];
    const variants = (procedure: string, input: object) =>
      admin.call(face, `productVariants.${procedure}`, { productId, ...input });
    const imageIds = [gone.id, kept.id];
    const made = await variants('create', { title: 'Red', imageIds });
    const { value: variant } = made as { value: ProductVariant };
    expect(variant.imageIds).toEqual(imageIds);
    const [productVariantId, ids] = [variant.id, [variant.id]];

    for (const refused of [[NO_ID], [kept.id, foreign.id]]) {
      expect(await variants('create', { title: 'Blue', imageIds: refused })).toEqual(NO_IMAGE);
      const many = [{ title: 'Blue', imageIds: [kept.id] }, { title: 'Green', imageIds: refused }]; // prettier-ignore
      expect(await variants('createMany', { variants: many })).toEqual(NO_IMAGE);
      expect(await variants('patch', { productVariantId, imageIds: refused })).toEqual(NO_IMAGE);
      expect(await variants('patchMany', { ids, data: { imageIds: refused } })).toEqual(NO_IMAGE);
    }
    expect(await variants('get', { productVariantId })).toEqual(made);

    expect(await call('removeImage', { productId, imageId: gone.id })).toEqual(OK);
    const left = { title: 'Red', imageIds: [kept.id] };
    expect(await variants('get', { productVariantId })).toMatchObject({ value: left });
    expect(await variants('list', {})).toMatchObject({ value: { data: [left] } });
    expect(await variants('list', { $top: 1 })).toMatchObject({ value: { value: [left] } });
    expect(await variants('patch', { productVariantId, sku: 'R' })).toMatchObject({ value: left });
    expect(await variants('patch', { productVariantId, imageIds })).toEqual(NO_IMAGE);
    expect(await variants('patchMany', { ids, data: { imageIds: [] } })).toMatchObject({ value: [{ imageIds: [] }] });
  });
});

it('a removed image leaves the storage, once its upload address is out of date', async () => {
  const { id: productId } = await create();
  const { id } = await add(productId);
  await admin.rest('DELETE', `/products/${productId}/images/${id}`).expect(204);
  app.clock.advance(21 * 60_000);
  await app.tandem.services.files.work();
  expect(await app.storage.model(fileModel).findById(id).lean()).toBeNull();
  [admin, elsewhere] = [await app.signIn(admin.email), await other.signIn(admin.email)];
});

it('of 20 images concurrently added to a product with room for seven, exactly seven are added', async () => {
  const { id: productId } = await create();
  const given = await atOnce(20, (person) => uploadImage(productId, person));
  const attached = { purpose: 'product-image', resourceId: productId, state: 'attached' };
  const taken = Array.from({ length: IMAGES_MAX - 7 }, (_, place) => {
    const object = { ...attached, objectId: crypto.randomUUID(), issuedTo: admin.id, type: TYPE, size: 7 };
    return { ...object, place, attachedAt: app.clock.now() };
  });
  await app.storage.model(fileModel).insertMany(taken);
  const answers = await atOnce(20, (person, n) => person.rest('POST', `/products/${productId}/images`, given[n]));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(7);
  const refused = answers.filter(({ status }) => status !== 201).map(({ status, body }) => [status, JSON.stringify(body)]);
  expect(new Set(refused.map(String))).toEqual(new Set(['409,{"error":{"message":"There must NOT be more than 50 files"}}']));
  expect(await imagesOf(productId)).toHaveLength(IMAGES_MAX);
});

it('images added during the deletion of their product are there after a restore, and no others', async () => {
  const { id: productId } = await create();
  const given = await atOnce(20, (person) => uploadImage(productId, person));
  const [answers] = await Promise.all([
    atOnce(20, (person, n) => person.rest('POST', `/products/${productId}/images`, given[n])),
    admin.rest('DELETE', `/products/${productId}`).expect(204),
  ]);
  const added = answers.filter(({ status }) => status === 201).map(({ body }) => (body as ShownFile).id);
  expect(answers.every(({ status }) => status === 201 || status === 404)).toBe(true);
  await admin.rest('POST', `/products/${productId}/restore`).expect(200);
  expect((await imagesOf(productId)).toSorted()).toEqual(added.toSorted());
});

it('that is removed gives its product and the variants that showed it other versions, also if the first attempt got no further', async () => {
  const { id: productId } = await create();
  const { id: imageId } = await add(productId);
  const variant = await admin
    .rest('POST', `/products/${productId}/variants`, { title: 'Red', imageIds: [imageId] })
    .expect<ProductVariant>(201);
  const paths = [`/products/${productId}`, `/products/${productId}/variants/${variant.id}`];
  const tags = () => Promise.all(paths.map(async (path) => (await admin.rest('GET', path)).headers.get('etag')));
  const before = await tags();
  await using proxy = await startStoreProxy(app.mongodbUri);
  await using dying = await start({ mongodbUri: proxy.uri });
  void proxy.answer(isCommand('products.update'), { ok: 0, code: 2, codeName: 'BadValue', errmsg: 'refused' });
  const remove = `/products/${productId}/images/${imageId}`;
  expect((await dying.rest('DELETE', remove, undefined, admin.credentials)).status).toBe(500);
  expect(await tags()).toEqual(before);
  await admin.rest('DELETE', remove).expect(404);
  const after = await tags();
  for (const [at, tag] of after.entries()) expect(tag).not.toBe(before[at]);
  expect(await admin.rest('GET', paths[1] as string).expect(200)).toMatchObject({ imageIds: [] });
  // nothing changes with one that never was there
  await admin.rest('DELETE', `/products/${productId}/images/${NO_ID}`).expect(404);
  expect(await tags()).toEqual(after);
});

it('of 20 concurrent removals of an image one succeeds, and no variant keeps it', async () => {
  const { id: productId } = await create();
  const { id: imageId } = await add(productId);
  const variants = `/products/${productId}/variants`;
  const answers = await atOnce(40, (person, n) =>
    n % 4 < 2
      ? person.rest('DELETE', `/products/${productId}/images/${imageId}`)
      : person.rest('POST', variants, { title: `${n}`, imageIds: [imageId] }),
  );
  expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
  const { data } = await admin.rest('GET', `${variants}?limit=50`).expect<{ data: ProductVariant[] }>(200);
  expect(data).toHaveLength(answers.filter(({ status }) => status === 201).length);
  expect(data.flatMap(({ imageIds }) => imageIds)).toEqual([]);
});
