import { newId } from '@tandem/storage';
import { fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, expect, it } from 'vitest';
import { listenTo, openChannel, say } from '../../test/chat-world.js';
import type { Message } from './messages.schemas.js';
import { reactionModel } from './reaction.model.js';

const app = fixture(startTestServer);
const other = fixture(() => startTestServer({ clock: app.clock, mongodbUri: app.mongodbUri }));

let people: Person[];
beforeAll(async () => {
  people = await Promise.all(Array.from({ length: 10 }, () => app.signUp()));
});
const put = (server: typeof app, { credentials }: Person, messageId: string, key: string) =>
  server.call('rest', 'chat.addReaction', { messageId, key }, credentials);
const remove = (server: typeof app, { credentials }: Person, messageId: string, key: string) =>
  server.call('rest', 'chat.removeReaction', { messageId, key }, credentials);
const at = (n: number) => (n % 2 === 0 ? app : other);
async function message() {
  const [owner, ...others] = people as [Person, ...Person[]];
  const { id: channelId } = await openChannel(owner, others);
  const { id } = await say(owner, channelId);
  const read = async () => (await owner.rest('GET', `/messages/${id}`).expect<Message>(200)).reactions;
  return { owner, id, channelId, read };
}

it('of 60 keys at once on two instances 20 are taken, and all others are refused', async () => {
  const { id, read } = await message();
  const each = Array.from({ length: 60 }, (_, n) => put(at(n), people[n % 10] as Person, id, `key${n}`));
  const outcomes = await Promise.all(each);
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(20);
  expect(outcomes.flatMap((one) => (one.ok ? [] : one.status))).toEqual(Array.from({ length: 40 }, () => 409));
  expect(await read()).toHaveLength(20);
});

it('ten people who react alike at once on two instances, each twice, count ten, and are told once each', async () => {
  const { id, channelId, read } = await message();
  const told = [listenTo(app, channelId), listenTo(other, channelId)];
  const outcomes = await Promise.all(
    people.flatMap((person, n) => [put(at(n), person, id, '👍'), put(at(n + 1), person, id, '👍')]),
  );
  expect(outcomes.every(({ ok }) => ok)).toBe(true);
  expect(await read()).toEqual([{ key: '👍', count: 10, mine: true }]);
  const events = told.flat().filter((event) => event.type === 'reaction.created');
  expect(events.map(({ identityId }) => identityId).toSorted()).toEqual(people.map(({ id: one }) => one).toSorted());
  expect(Math.max(...events.map(({ count }) => count))).toBe(10);
});

it('reacting and taking back at once leaves as many as are left, and no place taken', async () => {
  const { id, read, owner } = await message();
  for (let round = 0; round < 5; round++) {
    await Promise.all(people.flatMap((person, n) => [put(at(n), person, id, 'ok'), remove(at(n + 1), person, id, 'ok')]));
    const [left] = await read();
    await Promise.all(people.map((person, n) => remove(at(n), person, id, 'ok')));
    expect(left?.count ?? 0).toBeLessThanOrEqual(10);
    expect(await read()).toEqual([]);
  }
  for (let n = 0; n < 20; n++) expect(await put(app, owner, id, `key${n}`)).toMatchObject({ ok: true });
});

it('of two people at once for the last place of 5,000 with a reaction one is refused; one who is there may come again', async () => {
  const { id, read, owner } = await message();
  const [first, second, third] = people.slice(1) as [Person, Person, Person];
  expect(await put(app, third, id, 'ok')).toMatchObject({ ok: true });
  const strangers = Array.from({ length: 4998 }, () => newId());
  const full = { identityIds: { $concatArrays: ['$identityIds', strangers] }, count: 4999 };
  await app.storage.model(reactionModel).collection.updateOne({ messageId: id }, [{ $set: full }]);
  const outcomes = await Promise.all([put(app, first, id, 'ok'), put(other, second, id, 'ok')]);
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
  const refused = { ok: false, status: 409, message: 'There must NOT be more than 5000 people with one reaction to a message' };
  expect(outcomes).toContainEqual(expect.objectContaining(refused));
  expect(await put(app, third, id, 'ok')).toMatchObject({ ok: true });
  expect(await put(app, owner, id, 'ok')).toMatchObject(refused);
  await remove(app, third, id, 'ok');
  expect(await put(app, owner, id, 'ok')).toMatchObject({ ok: true });
  expect(await read()).toEqual([{ key: 'ok', count: 5000, mine: true }]);
});

it('a message takes no reactions once it is deleted, on whichever instance', async () => {
  const { id, owner } = await message();
  const [first, second] = people.slice(1) as [Person, Person];
  for (const server of [app, other]) expect(await put(server, first, id, 'ok')).toMatchObject({ ok: true });
  await owner.rest('DELETE', `/messages/${id}`).expect(204);
  for (const server of [app, other]) expect(await put(server, second, id, 'ok')).toMatchObject({ ok: false, status: 403 });
});
