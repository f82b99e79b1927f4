import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLeasedQueue } from '@tandem/storage';
import { fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { openChannel } from '../../test/chat-world.js';
import { fileModel } from '../files/file.model.js';
import { createFileLookup } from '../files/file-lookup.js';

const folder = fixture(async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'tandem-scans-'));
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, maxRetries: 20, retryDelay: 50 }) };
});
/** On an engine that refuses every query that no index serves. */
const app = fixture(async () => {
  const server = await startTestServer({
    mongodbUri: undefined,
    dataDir: folder.dir,
  });
  const { db } = server.storage.model(fileModel).db;
  await db?.admin().command({ setParameter: 1, notablescan: true });
  return server;
});

it('an engine that refuses scans says so', async () => {
  const { collection } = app.storage.model(fileModel);
  await expect(collection.findOne({ size: 1 })).rejects.toThrow('notablescan');
});

describe('no collection is scanned', () => {
  let ann: Person;
  let bob: Person;
  let admin: Person;
  beforeEach(async () => {
    [ann, bob, admin] = [await app.signUp(), await app.signUp(), await app.signUpAdmin()];
  });
  const found = (person: Person) =>
    person
      .rest('POST', '/organizations', {
        organization: { name: 'Shop', description: 'Tea', contact_email: 'a@example.org' },
      })
      .expect<{ id: string }>(201);

  it('when two people open the channel of theirs, again too', async () => {
    await openChannel(ann, [bob]);
    for (const one of [ann, bob, ann]) {
      const other = one === ann ? bob : ann;
      await one.rest('POST', '/channels/direct', { identityId: other.id }).expect(200);
    }
  });

  it('when an organization and a product are deleted with what belongs to them, and restored', async () => {
    const { id: organizationId } = await found(ann);
    const product = { name: 'Tea', description: 'Leaves', price: { amount: 4, currency: 'EUR' }, organizationId };
    const { id: productId } = await admin.rest('POST', '/products', product).expect<{ id: string }>(201);
    for (const one of [`/products/${productId}`, `/organizations/${organizationId}`]) {
      await admin.rest('DELETE', one).expect(204);
      await admin.rest('POST', `${one}/restore`).expect(200);
    }
    expect(await admin.rest('GET', `/products/${productId}`).expect(200)).toMatchObject({ name: 'Tea' });
  });

  it('when a file is taken from its queue, or those of several purposes are looked up at once', async () => {
    const queue = createLeasedQueue(app.storage, app.storage.model(fileModel), [1000]);
    expect(await queue.claim()).toBeUndefined();
    const lookUp = createFileLookup(app.storage.model(fileModel));
    expect(await Promise.all([lookUp('product-image', ['a']), lookUp('channel-icon', ['b'])])).toEqual([[], []]);
  });
});
