import { randomUUID } from 'node:crypto';
import { databaseOf, fixture, isCommand, startStoreProxy, startTestServer, type TestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { upload } from '../../test/uploads.js';

const proxy = fixture(() => startStoreProxy(databaseOf('madeBefore')));
const cut = fixture(() => startTestServer({ mongodbUri: proxy.uri }));
const beside = fixture(() => startTestServer({ mongodbUri: cut.mongodbUri, clock: cut.clock }));
const admin = fixture(() => cut.signUpAdmin());

const given = () => ({ name: randomUUID(), description: '' });
/** Sends the same request again and again, with one key. */
function sending(path: string, input: object) {
  const headers = { 'idempotency-key': randomUUID() };
  return (on: TestServer) => on.rest('POST', path, input, { ...admin.credentials, headers });
}

describe('a create that an earlier attempt has stored, without its answer', () => {
  it.each(['categories', 'products'])('is answered with the ETag of its record: of %s', async (kind) => {
    const send = sending(`/${kind}`, given());
    const wasCut = proxy.cut(isCommand(`${kind}.insert`), 'after');
    expect((await send(cut)).status).toBe(503);
    await wasCut;
    const again = await send(beside);
    expect(again.status).toBe(201);
    expect(again.headers.get('etag')).toMatch(/^"[\w-]+\.1"$/);
  });

  it('is refused as any other where that of somebody else has come first', async () => {
    const email = `${randomUUID()}@example.org`;
    const send = sending('/invitations', { email });
    const wasCut = proxy.cut(isCommand('invitations.insert'), 'before');
    expect((await send(cut)).status).toBe(503);
    await wasCut;
    await admin.rest('POST', '/invitations', { email }).expect(201);
    expect((await send(beside)).status).toBe(409);
  });

  it('completes what follows: an added image changes its product', async () => {
    const { id } = await admin.rest('POST', '/products', given()).expect<{ id: string }>(201);
    const tag = async () => (await admin.rest('GET', `/products/${id}`)).headers.get('etag');
    const before = await tag();
    const file = await upload(admin, `/products/${id}/image-upload-url`, 'image/png', randomUUID());
    const send = sending(`/products/${id}/images`, file);
    const wasCut = proxy.cut(isCommand('products.update'), 'before');
    expect((await send(cut)).status).toBe(503);
    await wasCut;
    expect(await tag()).toBe(before);
    expect((await send(beside)).status).toBe(201);
    expect(await tag()).not.toBe(before);
  });
});
