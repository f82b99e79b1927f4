import { PATIENCE, fixture, isCommand, startStoreProxy, startTestServer, type Person } from '@tandem/testing';
import { TRACE } from '@tandem/storage';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { listenTo, openChannel, say, subscribe } from '../../test/chat-world.js';
import { banModel } from './ban.model.js';
import type { Ban } from './bans.schemas.js';
import { muteModel } from './mutes.js';
import type { Report } from './reports.schemas.js';
import { subscriptionModel } from './subscription.model.js';
import type { Subscription } from './subscriptions.schemas.js';

const app = fixture(startTestServer);
const proxy = fixture(() => startStoreProxy(app.mongodbUri));
/** Another instance, whose commands to the store can be held. */
const other = fixture(() => startTestServer({ mongodbUri: proxy.uri, clock: app.clock }));
let admins: [Person, Person];
let owners: [Person, Person];
let bobs: [Person, Person];
let channelId: string;
beforeAll(async () => {
  const both = async (person: Person): Promise<[Person, Person]> => [person, await other.signIn(person.email)];
  admins = await both(await app.signUpAdmin());
  owners = await both(await app.signUp());
  bobs = await both(await app.signUp());
});
beforeEach(async () => {
  ({ id: channelId } = await openChannel(owners[0], [], { open: true }));
});

async function membersOf(): Promise<string[]> {
  const { data } = await admins[0].rest('GET', `/subscriptions?channelId=${channelId}`).expect<{ data: Subscription[] }>(200);
  return data.map(({ subscribedId }) => subscribedId);
}
const ban = (person: Person) => person.rest('POST', `/channels/${channelId}/bans`, { identityId: bobs[0].id });
const join = (person: Person) => person.rest('POST', '/subscriptions', { channelId, subscribedId: bobs[0].id });

it('who is banned on one instance while it joins and is added on another is outside in the end', async () => {
  for (let round = 0; round < 10; round++) {
    const [banned, ...joined] = await Promise.all([
      ban(owners[round % 2] as Person),
      join(bobs[(round + 1) % 2] as Person),
      join(owners[(round + 1) % 2] as Person),
      join(bobs[round % 2] as Person),
    ]);
    expect(banned.status).toBe(201);
    for (const { status } of joined) expect([201, 403, 409]).toContain(status);
    expect(await membersOf()).toEqual([owners[0].id]);
    await join(bobs[0]).expect(403, 'Identity is banned from the channel');
    await owners[0].rest('DELETE', `/channels/${channelId}/bans/${bobs[0].id}`).expect(204);
  }
});

it.each(['before', 'after'] as const)('who is banned just %s its membership is stored is refused, and outside', async (when) => {
  const { reached, release } = proxy.hold(isCommand('subscriptions.insert'), when);
  const joining = join(bobs[1]).expect(403, 'Identity is banned from the channel');
  await reached;
  await ban(owners[0]).expect(201);
  release();
  await joining;
  expect(await membersOf()).toEqual([owners[0].id]);
});

it('of 20 concurrent bans of an identity one record stays, and of 20 that lift it one succeeds', async () => {
  const bans = await Promise.all(Array.from({ length: 20 }, (_, n) => ban(owners[n % 2] as Person).expect<Ban>(201)));
  expect(new Set(bans.map(({ id }) => id)).size).toBe(1);
  const lifted = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      return (await owners[n % 2]?.rest('DELETE', `/channels/${channelId}/bans/${bobs[0].id}`))?.status;
    }),
  );
  expect(lifted.filter((status) => status === 204)).toHaveLength(1);
  expect(lifted.filter((status) => status === 404)).toHaveLength(19);
});

/** What a process stores that dies before its next step. */
const storeAlone = {
  ban: () => app.storage.model(banModel).create({ channelId, identityId: bobs[0].id, until: null, bannedBy: owners[0].id }),
  membership: () => app.storage.model(subscriptionModel).create({ channelId, subscribedId: bobs[0].id }),
};

it('a ban whose process died before it removed the member removes it, and readers are told', async () => {
  await subscribe(owners[0], channelId, bobs[0].id);
  const [events, elsewhere] = [listenTo(app, channelId), listenTo(other, channelId)];
  await storeAlone.ban();
  await expect.poll(membersOf, PATIENCE).toEqual([owners[0].id]);
  // whichever instance has appended the event to the log
  const left = { type: 'subscription.deleted', channelId, identityId: bobs[0].id, role: 'member' };
  await expect.poll(() => [...events, ...elsewhere], PATIENCE).toEqual([left]);
});

it('a ban that comes while the account is deleted removes the hidden membership, too', async () => {
  const [bob] = bobs;
  await subscribe(owners[0], channelId, bob.id);
  await admins[0].rest('DELETE', `/identities/${bob.id}`).expect(204);
  await storeAlone.ban();
  const left = () =>
    app.storage.model(subscriptionModel).exists({ channelId, subscribedId: bob.id }).setOptions({ deleted: 'include' });
  await expect.poll(async () => left(), PATIENCE).toBe(null);
  await admins[1].rest('POST', `/identities/${bob.id}/restore`).expect(200);
  await expect.poll(membersOf, PATIENCE).toEqual([owners[0].id]);
  bobs = [await app.signIn(bob.email), await other.signIn(bob.email)];
});

it('a membership whose process died before it looked for a ban is removed', async () => {
  await ban(owners[0]).expect(201);
  await storeAlone.membership();
  await expect.poll(membersOf, PATIENCE).toEqual([owners[0].id]);
});

it('a ban that was lifted removes nobody who has joined since, whenever its event is told', async () => {
  await app.storage.model(banModel).create({ channelId, identityId: bobs[0].id, until: null, bannedBy: owners[0].id });
  await owners[0].rest('DELETE', `/channels/${channelId}/bans/${bobs[0].id}`).expect(204);
  await join(bobs[0]).expect(201);
  await admins[0].rest('GET', '/events?types=ban.*').expect(200);
  expect(await membersOf()).toContain(bobs[0].id);
});

it('a role whose process died before it told anybody is told, once', async () => {
  const { id } = await subscribe(owners[0], channelId, bobs[0].id);
  const [events, elsewhere] = [listenTo(app, channelId), listenTo(other, channelId)];
  const stages = [{ $set: { role: 'moderator', changedIn: { $add: [`$${TRACE}.version`, 1] } } }] as never[];
  await app.storage.model(subscriptionModel).updateOne({ _id: id }, stages, { updatePipeline: true });
  const told = { type: 'subscription.updated', channelId, identityId: bobs[0].id, role: 'moderator' };
  await expect.poll(() => [...events, ...elsewhere], PATIENCE).toEqual([told]);
});

it('a mute whose process died before it was kept is kept when the person leaves and comes back', async () => {
  const { id } = await subscribe(owners[0], channelId, bobs[0].id);
  const mutedUntil = new Date(app.clock.now().getTime() + 60_000);
  await app.storage.model(subscriptionModel).updateOne({ _id: id }, { $set: { mutedUntil } });
  const kept = app.storage.model(muteModel);
  await expect.poll(async () => kept.exists({ _id: `${channelId} ${bobs[0].id}` }), PATIENCE).not.toBe(null);
  await bobs[0].rest('DELETE', `/subscriptions/${id}`).expect(204);
  expect(await join(bobs[1]).expect(201)).toMatchObject({ mutedUntil: mutedUntil.toISOString() });
});

it('of 20 concurrent mutes and unmutes the last version counts, also in the next membership', async () => {
  const { id } = await subscribe(owners[0], channelId, bobs[0].id);
  const until = new Date(app.clock.now().getTime() + 60_000).toISOString();
  const changes = Array.from({ length: 20 }, (_, n) => (n % 3 === 0 ? null : until));
  const change = async (person: Person, mutedUntil: string | null) =>
    person.rest('PATCH', `/subscriptions/${id}`, { mutedUntil }).expect(200);
  await Promise.all(changes.map((mutedUntil, n) => change(owners[n % 2] as Person, mutedUntil)));
  const last = await bobs[0].rest('GET', `/subscriptions/${id}`).expect<Subscription>(200);
  await bobs[0].rest('DELETE', `/subscriptions/${id}`).expect(204);
  const { mutedUntil } = await join(bobs[1]).expect<Subscription>(201);
  expect(mutedUntil).toBe(last.mutedUntil);
});

it('of 20 concurrent reports of a message by one person one succeeds', async () => {
  const { id } = await say(owners[0], channelId);
  const report = async (person: Person) => (await person.rest('POST', `/messages/${id}/reports`, { reason: 'rude' })).status;
  const statuses = await Promise.all(Array.from({ length: 20 }, (_, n) => report(owners[n % 2] as Person)));
  expect(statuses.filter((status) => status === 201)).toHaveLength(1);
  expect(statuses.filter((status) => status === 409)).toHaveLength(19);
  const { data } = await admins[0].rest('GET', `/reports?messageId=${id}`).expect<{ data: Report[] }>(200);
  expect(data).toHaveLength(1);
});
