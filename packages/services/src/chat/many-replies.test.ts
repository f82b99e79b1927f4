import { NO_EVENTS, TRACE, newId } from '@tandem/storage';
import { PATIENCE, fixture, isCommand, startStoreProxy, startTestServer, type StoreCommand } from '@tandem/testing';
import { expect, it, onTestFinished } from 'vitest';
import { openChannel, say } from '../../test/chat-world.js';
import { messageModel } from './message.model.js';
import type { Message } from './messages.schemas.js';

/** More than are counted at each read. */
const MANY = 1500;
const app = fixture(startTestServer);
const ann = fixture(() => app.signUp());
const admin = fixture(() => app.signUpAdmin());
const proxy = fixture(() => startStoreProxy(app.mongodbUri));
const watched = fixture(() => startTestServer({ mongodbUri: proxy.uri, clock: app.clock }));

it('a post that is sent again with its Idempotency-Key, after it was stored and not answered, shows what replies to it since', async () => {
  const { id: channelId } = await openChannel(ann);
  const post = (content: string, key: string, fields: object = {}) => {
    const headers = { 'idempotency-key': key };
    const given = { channelId, senderId: ann.id, content, ...fields };
    return watched.rest('POST', '/messages', given, { ...ann.credentials, headers });
  };
  const wasCut = proxy.cut(isCommand('idempotencyKeys.update'), 'before');
  await post('first', 'post').expect(503);
  await wasCut;
  const { data } = await ann.rest('GET', `/messages?channelId=${channelId}`).expect<{ data: Message[] }>(200);
  for (const n of [1, 2]) await say(ann, channelId, `reply ${n}`, { replyToId: data[0]?.id });
  expect(await post('first', 'post').expect<Message>(201)).toMatchObject({ id: data[0]?.id, replyCount: 2 });
});

/** A message with many replies. */
async function thread() {
  const { id: channelId } = await openChannel(ann);
  const { id: replyToId } = await say(ann, channelId);
  const first = await say(ann, channelId, 'first', { replyToId });
  const [now, senderId] = [new Date(), ann.id];
  const others = { channelId, senderId, content: 'x', title: null, clientId: null, replyToId, createdAt: now, updatedAt: now };
  const rows = Array.from({ length: MANY }, (_, n) => ({
    _id: newId(),
    ...others,
    seq: 3 + n,
    change: 100 + n,
    deletedAt: null,
    // else each reply would take a number of the message that it replies to, while they are written
    [TRACE]: NO_EVENTS,
  }));
  // the last first, so that whatever takes a number meanwhile takes one after them
  await app.storage.model(messageModel).collection.insertMany(rows.toReversed() as never);
  // the end of the channel is another now
  const other = await startTestServer({ mongodbUri: app.mongodbUri, clock: app.clock });
  onTestFinished(other.close);
  const reply = async () => {
    const given = { channelId, senderId, content: 'another', replyToId };
    const answer = await other.rest('POST', '/messages', given, ann.credentials).expect<Message>(201);
    return answer.id;
  };
  return { replyToId, first: first.id, reply };
}
const countOf = async (messageId: string) =>
  (await watched.rest('GET', `/messages/${messageId}`, undefined, ann.credentials).expect<Message>(200)).replyCount;

/** Whether a read counts the replies behind a number alone. */
async function countsTheRest(messageId: string): Promise<boolean> {
  const start = proxy.commands.length;
  await countOf(messageId);
  const isCount = ({ body }: StoreCommand) => JSON.stringify(body).includes(`"replyToId":"${messageId}"`);
  return JSON.stringify(proxy.commands.slice(start).find(isCount)?.body).includes('"$gt"');
}

it('many replies are counted once, and then those that come, until an earlier one is deleted or restored', async () => {
  const { replyToId, first, reply } = await thread();
  expect(await countOf(replyToId)).toBe(MANY + 1);
  expect(await countsTheRest(replyToId)).toBe(true);
  const late = await reply();
  expect(await countOf(replyToId)).toBe(MANY + 2);
  for (const [method, path, count] of [
    ['DELETE', `/messages/${first}`, MANY + 1],
    ['POST', `/messages/${first}/restore`, MANY + 2],
    ['DELETE', `/messages/${late}`, MANY + 1],
  ] as const) {
    await admin.rest(method, path).expect(method === 'POST' ? 200 : 204);
    expect(await countOf(replyToId)).toBe(count);
  }
  // what the event log has to say of these has been said
  await app.storage.events.last();
  expect(await countOf(replyToId)).toBe(MANY + 1);
  expect(await countsTheRest(replyToId)).toBe(true);
});

it('a few replies are counted at each read, and no count is kept', async () => {
  const { id: channelId } = await openChannel(ann);
  const { id: replyToId } = await say(ann, channelId);
  await say(ann, channelId, 'only', { replyToId });
  expect([await countOf(replyToId), await countsTheRest(replyToId)]).toEqual([1, false]);
});

it('a count that was made while a reply was deleted is not kept', async () => {
  const { replyToId, first } = await thread();
  const held = proxy.hold(isCommand('messages.aggregate'), 'after');
  const counting = countOf(replyToId);
  await held.reached;
  // the store has counted by the time that it has deleted
  await ann.rest('GET', `/messages/${replyToId}`).expect(200);
  await admin.rest('DELETE', `/messages/${first}`).expect(204);
  // which drops counts too
  await app.storage.events.last();
  held.release();
  await counting;
  expect(await countOf(replyToId)).toBe(MANY);
});

it('a process that dies before it has dropped a count, or a host that deletes a reply, leaves it to the event log', async () => {
  const { replyToId, first } = await thread();
  expect(await countOf(replyToId)).toBe(MANY + 1);
  await app.storage.model(messageModel).deleteOne({ _id: first });
  await expect.poll(() => countOf(replyToId), PATIENCE).toBe(MANY);
});
