import { fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, expect, it } from 'vitest';
import { openChannel, say, subscribe } from '../../test/chat-world.js';
import type { ListedChannel } from './channel-list.js';
import type { ReadState } from './read-states.schemas.js';
import { subscriptionModel } from './subscription.model.js';
import type { Subscription } from './subscriptions.schemas.js';

const app = fixture(startTestServer);
const other = fixture(() => startTestServer({ clock: app.clock }));
let admins: [Person, Person];
let anns: [Person, Person];
beforeAll(async () => {
  const [admin, ann] = [await app.signUpAdmin(), await app.signUp()];
  admins = [admin, await other.signIn(admin.email)];
  anns = [ann, await other.signIn(ann.email)];
});

/** The same 20 times at once, by one person on two servers. */
const twenty = (people: readonly [Person, Person], request: (person: Person, n: number) => PromiseLike<{ status: number }>) =>
  Promise.all(Array.from({ length: 20 }, async (_, n) => (await request(people[n % 2] as Person, n)).status));
const inOrder = (statuses: number[]) => statuses.toSorted((a, b) => a - b);
const once = (status: number, others: number) => [status, ...Array.from({ length: 19 }, () => others)];

async function membersOf(channelId: string): Promise<string[]> {
  const { data } = await admins[0].rest('GET', `/subscriptions?channelId=${channelId}`).expect<{ data: Subscription[] }>(200);
  return data.map(({ subscribedId }) => subscribedId);
}

it('of 20 concurrent calls that add a member one succeeds, and of 20 that remove it one does', async () => {
  const { id: channelId } = await openChannel(anns[0]);
  const [{ id: subscribedId }] = admins;
  const added = await twenty(anns, (ann) => ann.rest('POST', '/subscriptions', { channelId, subscribedId }));
  expect(inOrder(added)).toEqual(once(201, 409));
  const { data } = await anns[0].rest('GET', `/subscriptions?channelId=${channelId}`).expect<{ data: Subscription[] }>(200);
  expect(data).toHaveLength(2);
  const id = data.find((one) => one.subscribedId === subscribedId)?.id;
  expect(inOrder(await twenty(admins, (admin) => admin.rest('DELETE', `/subscriptions/${id}`)))).toEqual(once(204, 404));
});

it('a membership that is removed by its id twice, deleted or not, is removed once', async () => {
  const { id: channelId } = await openChannel(anns[0]);
  const { id: _id } = await subscribe(anns[0], channelId, admins[0].id);
  const Subscriptions = app.storage.model(subscriptionModel);
  const options = { deleted: 'include', hard: true } as const;
  const byOne = async () => (await Subscriptions.deleteOne({ _id }, options)).deletedCount;
  const byOther = async () => Subscriptions.findOneAndDelete({ _id }, options);
  expect([await byOne(), await byOne(), await byOther()]).toEqual([1, 0, null]);
});

it('of 20 concurrent deletions of a channel one succeeds, and 20 restores bring its members back once', async () => {
  const { id } = await openChannel(anns[0], [admins[0]]);
  expect(inOrder(await twenty(admins, (admin) => admin.rest('DELETE', `/channels/${id}`)))).toEqual(once(204, 404));
  expect(await membersOf(id)).toEqual([]);
  for (const status of await twenty(admins, (admin) => admin.rest('POST', `/channels/${id}/restore`)))
    expect([200, 404]).toContain(status);
  expect(await membersOf(id)).toHaveLength(2);
});

it('an identity that joins a channel during its deletion is no member, and after a restore a member once or not at all', async () => {
  const { id: channelId } = await openChannel(anns[0], [], { open: true });
  const people = await Promise.all(Array.from({ length: 10 }, () => app.signUp()));
  const join = (person: Person) => person.rest('POST', '/subscriptions', { channelId, subscribedId: person.id });
  const [{ status }, ...joined] = await Promise.all([
    admins[1].rest('DELETE', `/channels/${channelId}`),
    ...people.map(async (person) => ({ person, status: (await join(person)).status })),
  ]);
  expect(status).toBe(204);
  expect(await membersOf(channelId)).toEqual([]);
  await admins[0].rest('POST', `/channels/${channelId}/restore`).expect(200);
  const members = joined.filter((one) => one.status === 201).map(({ person }) => person.id);
  expect(new Set(await membersOf(channelId))).toEqual(new Set([anns[0].id, ...members]));
});

it('20 concurrent marks of read messages, in any order, end at the last message', async () => {
  const [ann] = anns;
  const { id: channelId } = await openChannel(ann);
  const messages = await Promise.all(Array.from({ length: 20 }, () => say(ann, channelId)));
  const marked = await twenty(anns, (person, n) =>
    person.rest('PUT', `/channels/${channelId}/read-state`, {
      identityId: ann.id,
      lastReadMessageId: messages[(n * 7) % 20]?.id,
    }),
  );
  expect(marked).toEqual(marked.map(() => 204));
  const state = await ann.rest('GET', `/channels/${channelId}/read-state`).expect<ReadState>(200);
  const last = messages.find(({ seq }) => seq === 20);
  expect(state).toMatchObject({ readSeq: 20, unread: 0, lastReadMessageId: last?.id });
});

it('no list has a last message that it does not count, while messages are posted', async () => {
  const [ann] = anns;
  const { id: channelId } = await openChannel(ann);
  const posting = anns.map(async (person) => {
    for (let n = 0; n < 30; n++) await say(person, channelId);
  });
  const reading = Array.from({ length: 8 }, async () => {
    for (let n = 0; n < 15; n++) {
      const { data } = await ann.rest('GET', `/channels?memberId=${ann.id}`).expect<{ data: ListedChannel[] }>(200);
      for (const { lastSeq = 0, lastMessage } of data) expect(lastSeq).toBeGreaterThanOrEqual(lastMessage?.seq ?? 0);
    }
  });
  await Promise.all([...posting, ...reading]);
});

it('of 20 concurrent deletions and of 20 restores of a message one succeeds', async () => {
  const { id: channelId } = await openChannel(anns[0]);
  const { id } = await say(anns[0], channelId);
  expect(inOrder(await twenty(admins, (person) => person.rest('DELETE', `/messages/${id}`)))).toEqual(once(204, 404));
  expect(inOrder(await twenty(admins, (person) => person.rest('POST', `/messages/${id}/restore`)))).toEqual(once(200, 404));
});

it('an identity deleted while it is added to a channel is no member, and one again once restored', async () => {
  const { id: channelId } = await openChannel(anns[0]);
  const person = await app.signUp();
  const [added, deleted] = await Promise.all([
    anns[1].rest('POST', '/subscriptions', { channelId, subscribedId: person.id }),
    admins[0].rest('DELETE', `/identities/${person.id}`),
  ]);
  expect(deleted.status).toBe(204);
  expect(await membersOf(channelId)).toEqual([anns[0].id]);
  await admins[1].rest('POST', `/identities/${person.id}/restore`).expect(200);
  expect(await membersOf(channelId)).toEqual(added.status === 201 ? [person.id, anns[0].id] : [anns[0].id]);
});

it('a removed member cannot post: at once on the server that removed it, within a second on others', async () => {
  const bob = await app.signUp();
  const there = await other.signIn(bob.email);
  const { id: channelId } = await openChannel(anns[0]);
  const { id } = await subscribe(anns[0], channelId, bob.id);
  await say(there, channelId);
  await anns[0].rest('DELETE', `/subscriptions/${id}`).expect(204);
  const post = (person: Person) => person.rest('POST', '/messages', { channelId, senderId: bob.id, content: 'x' });
  await post(bob).expect(403, 'Identity is not subscribed to the channel');
  await expect.poll(async () => (await post(there)).status, { timeout: 1500 }).toBe(403);
});
