import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { organizationModel } from '../organizations/organization.model.js';
import { messageModel } from '../chat/message.model.js';
import { openChannel, say, subscribe } from '../../test/chat-world.js';
import { letErasuresPass } from '../../test/named-person.js';
import { createOrganization } from '../../test/people.js';
import { upload } from '../../test/uploads.js';

const DAY_MS = 24 * 60 * 60_000;
const folder = fixture(async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'tandem-retention-'));
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
});
const app = fixture(() =>
  startTestServer({ dataDir: folder.dir, erasure: { deletedRetention: '30d', deletedRetentionOrders: '90d' } }),
);
const second = fixture(() => startTestServer({ clock: app.clock }));
const account = fixture(() => app.signUpAdmin());
let admin: Person;
// tests move the time
beforeEach(async () => {
  admin = await app.signIn(account.email);
});

/** How many documents of a collection name one of these. */
async function countOf(collection: string, ids: readonly string[]): Promise<number> {
  let count = 0;
  for await (const line of app.storage.exportLines(() => {}))
    if (line.startsWith(`{"collection":"${collection}"`) && ids.some((id) => line.includes(id))) count += 1;
  return count;
}
const create = async (who: Person, route: string, body: object): Promise<string> =>
  (await who.rest('POST', route, body).expect<{ id: string }>(201)).id;
const filesOf = async () => (await readdir(folder.dir, { recursive: true })).filter((name) => name.length > 30);

async function pass(milliseconds: number): Promise<void> {
  app.clock.advance(milliseconds);
  await app.tandem.runJobs();
  admin = await app.signIn(account.email);
}

describe('what was deleted', () => {
  it('can be restored for a while, and then goes with its children and files', async () => {
    const product = await create(admin, '/products', { name: 'Tea', description: '', price: { amount: 1, currency: 'EUR' } });
    const variant = await create(admin, `/products/${product}/variants`, {
      title: 'Green',
      price: { amount: 1, currency: 'EUR' },
    });
    const before = (await filesOf()).length;
    const image = await upload(admin, `/products/${product}/image-upload-url`, 'image/png', 'picture');
    await admin.rest('POST', `/products/${product}/images`, image).expect(201);
    await admin.rest('DELETE', `/products/${product}`).expect(204);
    await pass(29 * DAY_MS);
    await admin.rest('POST', `/products/${product}/restore`).expect(200);
    await admin.rest('DELETE', `/products/${product}`).expect(204);
    await pass(29 * DAY_MS);
    expect(await countOf('products', [product])).toBe(1);
    await pass(DAY_MS + 61_000);
    expect(await countOf('products', [product])).toBe(0);
    expect(await countOf('productVariants', [variant])).toBe(0);
    expect((await filesOf()).length).toBe(before);
    await admin.rest('POST', `/products/${product}/restore`).expect(404);
  });

  it('is what was deleted: with an organization goes what belonged to it, and nothing else', async () => {
    const [bob, carol] = await Promise.all([app.signUp(), app.signUp()]);
    const organization = await createOrganization(bob, { admin: [carol] });
    const product = await create(admin, '/products', {
      name: 'Tea',
      description: '',
      price: { amount: 1, currency: 'EUR' },
      organizationId: organization,
    });
    const robot = await create(bob, `/organizations/${organization}/service-accounts`, { name: 'robot', role: 'member' });
    const order = await create(carol, '/orders', { identityId: carol.id, items: [{ productId: product, quantity: 1 }] });
    await admin.rest('DELETE', `/organizations/${organization}`).expect(204);
    await pass(30 * DAY_MS + 61_000);
    await letErasuresPass(app);
    admin = await app.signIn(account.email);
    for (const [collection, id] of [
      ['organizations', organization],
      ['products', product],
      ['identities', robot],
    ] as const)
      expect(await countOf(collection, [`"_id":"${id}"`]), collection).toBe(0);
    await admin.rest('GET', `/orders/${order}`).expect(200);
    await admin.rest('GET', `/identities/${carol.id}`).expect(200);
  });

  it('keeps a membership as long as the person or the channel can be restored', async () => {
    const [bob, carol] = [await app.signUp(), await app.signUp()];
    const channel = await openChannel(bob);
    await subscribe(bob, channel.id, carol.id);
    await admin.rest('DELETE', `/identities/${carol.id}`).expect(204);
    await pass(10 * DAY_MS);
    await admin.rest('DELETE', `/channels/${channel.id}`).expect(204);
    await pass(10 * DAY_MS);
    await admin.rest('POST', `/identities/${carol.id}/restore`).expect(200);
    await pass(11 * DAY_MS);
    await admin.rest('POST', `/channels/${channel.id}/restore`).expect(200);
    const { data } = await admin.rest('GET', `/subscriptions?channelId=${channel.id}`).expect<{ data: object[] }>(200);
    expect(data).toEqual(expect.arrayContaining([expect.objectContaining({ subscribedId: carol.id })]));
  });

  it('is looked through with parents before what goes with them, which would else be missing from one that is restored', () => {
    const order = app.storage.people.softDeleted();
    for (const [parent, child] of [
      ['channels', 'subscriptions'],
      ['identities', 'subscriptions'],
      ['channels', 'messages'],
      ['organizations', 'products'],
      ['products', 'productVariants'],
    ] as const) {
      expect(order.indexOf(parent), parent).toBeGreaterThanOrEqual(0);
      expect(order.indexOf(parent), `${parent} ${child}`).toBeLessThan(order.indexOf(child));
    }
  });

  it('stays while the restoration of its parent is under way', async () => {
    const organization = await createOrganization(admin);
    const given = { name: 'Tea', description: '', organizationId: organization, price: { amount: 1, currency: 'EUR' } };
    const product = await create(admin, '/products', given);
    await admin.rest('DELETE', `/organizations/${organization}`).expect(204);
    app.clock.advance(31 * DAY_MS);
    // as a process leaves it that dies after the first of its writes
    await app.storage.people.write(organizationModel, { _id: organization }, { deletedAt: null });
    await app.tandem.runJobs();
    expect(await countOf('products', [product])).toBe(1);
  });

  it('stays likewise where it is a service account, which is not erased', async () => {
    const organization = await createOrganization(admin);
    const robot = await create(admin, `/organizations/${organization}/service-accounts`, { name: 'robot', role: 'member' });
    await admin.rest('DELETE', `/organizations/${organization}`).expect(204);
    app.clock.advance(31 * DAY_MS);
    await app.storage.people.write(organizationModel, { _id: organization }, { deletedAt: null });
    await app.tandem.runJobs();
    await letErasuresPass(app);
    expect(await countOf('identities', [`"_id":"${robot}"`])).toBe(1);
  });

  it('stays where it is a person who is to be erased later, and leaves time to take that back', async () => {
    const bob = await app.signUp();
    await admin.rest('DELETE', `/identities/${bob.id}`).expect(204);
    await pass(29 * DAY_MS);
    await admin.rest('POST', `/auth/${bob.id}/erase`).expect(202);
    await pass(2 * DAY_MS);
    await admin.rest('DELETE', `/auth/${bob.id}/erase`).expect(204);
  });

  it('stays where it is the notification of a mention whose message may change, which notifies nobody again', async () => {
    const [bob, carol] = [await app.signUp(), await app.signUp()];
    const channel = await openChannel(bob, [carol]);
    const message = await say(bob, channel.id, 'Tea?', { mentions: [carol.id] });
    async function told(): Promise<{ id: string }[]> {
      await app.storage.events.last();
      const { credentials } = await app.signIn(carol.email);
      const path = `/notifications/identities/${carol.id}`;
      return (await app.rest('GET', path, undefined, credentials).expect<{ data: { id: string }[] }>(200)).data;
    }
    for (const { id } of await told()) await app.tandem.services.notifications.delete(id);
    await pass(31 * DAY_MS);
    await (await app.signIn(bob.email)).rest('PATCH', `/messages/${message.id}`, { content: 'Coffee?' }).expect(200);
    expect(await told()).toEqual([]);
    expect(await countOf('notifications', [carol.id])).toBe(1);
    await admin.rest('DELETE', `/channels/${channel.id}`).expect(204);
    for (let times = 0; times < 2; times++) await pass(31 * DAY_MS);
    expect(await countOf('notifications', [carol.id])).toBe(0);
  });

  it('goes later where it is an order', async () => {
    const carol = await app.signUp();
    const product = await create(admin, '/products', { name: 'Tea', description: '', price: { amount: 1, currency: 'EUR' } });
    const order = await create(carol, '/orders', { identityId: carol.id, items: [{ productId: product, quantity: 1 }] });
    await admin.rest('DELETE', `/orders/${order}`).expect(204);
    await pass(31 * DAY_MS);
    expect(await countOf('orders', [order])).toBe(1);
    await pass(60 * DAY_MS);
    expect(await countOf('orders', [order])).toBe(0);
  });

  it('is erased where it was a person', async () => {
    const bob = await app.signUp();
    await create(bob, '/profiles', { identityId: bob.id, name: 'Bob' });
    await admin.rest('DELETE', `/identities/${bob.id}`).expect(204);
    await pass(30 * DAY_MS + 61_000);
    await letErasuresPass(app);
    expect(await countOf('identities', [bob.id])).toBe(0);
    expect(await countOf('profiles', [bob.id])).toBe(0);
  });

  it('stays where it is a conversation of two of whom one is banned, until the ban ends', async () => {
    const [bob, carol] = [await app.signUp(), await app.signUp()];
    const { id: channel } = await admin.rest('POST', '/channels/direct', { identityId: bob.id }).expect<{ id: string }>(200);
    const until = new Date(app.clock.now().getTime() + 70 * DAY_MS).toISOString();
    await admin.rest('POST', `/channels/${channel}/bans`, { identityId: bob.id, until }).expect(201);
    const { id: other } = await admin.rest('POST', '/channels/direct', { identityId: carol.id }).expect<{ id: string }>(200);
    for (const id of [channel, other]) await admin.rest('DELETE', `/channels/${id}`).expect(204);
    await pass(31 * DAY_MS);
    expect(await countOf('channels', [channel, other])).toBe(1);
    await admin.rest('POST', '/channels/direct', { identityId: bob.id }).expect(403);
    const profile = await create(admin, '/profiles', { identityId: admin.id, name: 'Ann' });
    await admin.rest('DELETE', `/profiles/${profile}`).expect(204);
    // a pass in which no channel goes does not end there
    await pass(31 * DAY_MS);
    expect([await countOf('channels', [channel]), await countOf('profiles', [`"_id":"${profile}"`])]).toEqual([1, 0]);
    await pass(10 * DAY_MS);
    expect(await countOf('channels', [channel])).toBe(0);
  });

  it('gives no second instance the number of a message that has gone', async () => {
    const bob = await app.signUp();
    const channel = await openChannel(bob);
    // the second instance remembers the end of the channel
    const elsewhere = await second.signIn(bob.email);
    await say(elsewhere, channel.id, 'first');
    const [gone] = [await say(bob, channel.id, 'gone'), await say(bob, channel.id, 'last')];
    await bob.rest('DELETE', `/messages/${gone.id}`).expect(204);
    await pass(31 * DAY_MS);
    expect(await countOf('messages', [`"_id":"${gone.id}"`])).toBe(0);
    expect(await say(await second.signIn(bob.email), channel.id, 'next')).toMatchObject({ seq: 4 });
  });

  it('leaves channels their numbers, and tells of a deletion who comes back after the message is gone', async () => {
    const bob = await app.signUp();
    const carol = await app.signUp();
    const channel = await openChannel(bob);
    await subscribe(bob, channel.id, carol.id);
    const [first, last] = [await say(bob, channel.id, 'first'), await say(bob, channel.id, 'last')];
    const reply = { channelId: channel.id, senderId: bob.id, content: 'reply', replyToId: first.id };
    const { id: replyId } = await bob.rest('POST', '/messages', reply).expect<{ id: string }>(201);
    // the last change of the first one tells the number of its replies
    for (const id of [first.id, replyId, last.id]) await bob.rest('DELETE', `/messages/${id}`).expect(204);
    // as an erasure does whose person it mentions
    await app.storage.people.write(messageModel, { _id: first.id }, { 'trace.version': 3 });
    await pass(30 * DAY_MS + 61_000);
    expect(await countOf('messages', [`"_id":"${first.id}"`])).toBe(0);
    const changes = await app.tandem.services.chat.changesSince(channel.id, 0, 100);
    const told = changes.changes.flatMap(({ event }) =>
      event?.type === 'message.deleted' ? [[event.messageId, event.seq]] : [],
    );
    expect(told).toEqual([
      [replyId, 3],
      [first.id, 1],
      [last.id, 2],
    ]);
    const again = await app.signIn(bob.email);
    expect(await say(again, channel.id, 'next')).toMatchObject({ seq: 4 });
    await pass(61_000);
    expect(await countOf('messages', [`"_id":"${last.id}"`])).toBe(0);
  });

  it('goes with all messages and mutes where it was a channel', async () => {
    const [bob, carol] = [await app.signUp(), await app.signUp()];
    const channel = await openChannel(bob);
    const message = await say(bob, channel.id);
    await bob.rest('PUT', `/messages/${message.id}/reactions/tea`).expect(204);
    const { id: membership } = await subscribe(bob, channel.id, carol.id);
    await bob.rest('PATCH', `/subscriptions/${membership}`, { mutedUntil: '2100-01-01T00:00:00.000Z' }).expect(200);
    expect(await countOf('mutes', [channel.id])).toBe(1);
    await bob.rest('DELETE', `/channels/${channel.id}`).expect(204);
    await pass(30 * DAY_MS + 61_000);
    for (const collection of ['channels', 'messages', 'reactions', 'subscriptions', 'pins', 'mutes'])
      expect(await countOf(collection, [channel.id]), collection).toBe(0);
  });
});
