import { randomUUID } from 'node:crypto';
import { databaseOf, FACES, NO_ID, PATIENCE, fixture, openStream, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openChannel, say, subscribe, valueOf } from '../../test/chat-world.js';
import { messageModel } from './message.model.js';
import type { Message } from './messages.schemas.js';

const app = fixture(startTestServer);
const other = fixture(() => startTestServer({ mongodbUri: app.mongodbUri, clock: app.clock }));
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());
const cem = fixture(() => app.signUp());
const STRANGER = { ok: false, status: 400, message: 'Validation Error', data: ['request body/mentions must be members of the channel'] }; // prettier-ignore

/** The mentions of a person in a channel that it is notified of, once all that was written has been told. */
async function toldTo(person: Person, channelId: string): Promise<Record<string, unknown>[]> {
  await app.storage.events.last();
  const path = `/notifications/identities/${person.id}?limit=50`;
  const { data } = await person.rest('GET', path).expect<{ data: Record<string, unknown>[] }>(200);
  return data.filter((one) => one['channelId'] === channelId);
}

describe.each(FACES)('over %s', (face) => {
  const call = (person: Person, procedure: string, input: Record<string, unknown>) =>
    person.call(face, `chat.${procedure}`, input);
  const post = (channelId: string, mentions: readonly string[], fields: object = {}) =>
    call(ann, 'createMessage', { channelId, senderId: ann.id, content: 'Tea?', mentions, ...fields });

  it('a message names members, each once, and each of them but its sender is notified, once a message', async () => {
    const { id: channelId } = await openChannel(ann, [bob, cem]);
    const message = valueOf(await post(channelId, [bob.id, ann.id, bob.id])) as Message;
    expect(message.mentions).toEqual([bob.id, ann.id]);
    const { id: messageId } = message;
    const notification = { kind: 'mention', messageId, channelId, senderId: ann.id, isRead: false };
    expect(await toldTo(bob, channelId)).toMatchObject([{ ...notification, receiverId: bob.id }]);
    expect(await call(bob, 'listMessages', { channelId })).toMatchObject({ value: { data: [message] } });

    const edit = (fields: object) => call(ann, 'patchMessage', { messageId, ...fields });
    expect(await edit({ content: 'Coffee?' })).toMatchObject({ value: { mentions: [bob.id, ann.id] } });
    expect(await edit({ mentions: [cem.id, bob.id, cem.id] })).toMatchObject({ value: { mentions: [cem.id, bob.id] } });
    expect(await edit({ mentions: [] })).toMatchObject({ value: { mentions: [] } });
    expect(await edit({ mentions: [cem.id] })).toMatchObject({ value: { mentions: [cem.id] } });
    expect(await toldTo(bob, channelId)).toHaveLength(1);
    expect(await toldTo(cem, channelId)).toMatchObject([notification]);
    expect(await toldTo(ann, channelId)).toEqual([]);
    const again = valueOf(await post(channelId, [bob.id])) as Message;
    expect((await toldTo(bob, channelId)).map((one) => one['messageId'])).toEqual([again.id, messageId]);
  });

  it('a stranger, and who has left, cannot be named, unless the message was stored before', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const { id: subscriptionId } = await subscribe(ann, channelId, cem.id);
    const stored = await post(channelId, [cem.id], { clientId: 'mine' });
    await cem.rest('DELETE', `/subscriptions/${subscriptionId}`).expect(204);
    for (const id of [cem.id, NO_ID]) expect(await post(channelId, [bob.id, id])).toEqual(STRANGER);
    expect(await post(channelId, [cem.id], { clientId: 'mine' })).toEqual(stored);
    const messageId = (valueOf(stored) as Message).id;
    expect(await call(ann, 'patchMessage', { messageId, mentions: [cem.id] })).toEqual(STRANGER);
    expect(await call(ann, 'patchMessage', { messageId, content: 'Mended' })).toMatchObject({ value: { mentions: [cem.id] } });
    expect(await post(channelId, ['x'])).toMatchObject({ status: 400 });
  });

  it('a message names 50 at most, of whom repeated ones count once', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const many = Array.from({ length: 51 }, () => randomUUID());
    const data = ['request body/mentions must NOT have more than 50 items'];
    expect(await post(channelId, many)).toMatchObject({ status: 400, data });
    expect(await post(channelId, many.slice(1))).toEqual(STRANGER);
    expect(
      await post(
        channelId,
        Array.from({ length: 60 }, () => bob.id),
      ),
    ).toMatchObject({ value: { mentions: [bob.id] } });
  });
});

it('who is named by a frame is told at once on its stream of notifications', async () => {
  // whichever process appends the event tells, so there is one alone
  const alone = await startTestServer({ mongodbUri: databaseOf('mentions') });
  onTestFinished(alone.close);
  const [sender, named, stranger] = await Promise.all([alone.signUp(), alone.signUp(), alone.signUp()]);
  const { id: channelId } = await openChannel(sender, [named]);
  await using listening = await openStream(alone.url, '/notifications/listen', named.credentials);
  await listening.next('ready');
  await using stream = await openStream(alone.url, '/messages/listen', sender.credentials);
  stream.send({ type: 'message.create', channelId, content: 'Tea?', clientId: 'a', mentions: [named.id] });
  const { message } = (await stream.next('ack')) as unknown as { message: Message };
  expect(message.mentions).toEqual([named.id]);
  expect(await listening.next('notification.created')).toMatchObject({
    notification: { kind: 'mention', messageId: message.id },
  });
  // an event of the same mention tells nobody again
  await sender.rest('PATCH', `/messages/${message.id}`, { content: 'Coffee?' }).expect(200);
  const next = await say(sender, channelId, 'Tea!', { mentions: [named.id] });
  expect(await listening.next('notification.created')).toMatchObject({ notification: { messageId: next.id } });
  stream.send({ type: 'message.create', channelId, content: 'Tea?', clientId: 'b', mentions: [stranger.id] });
  expect(await stream.next('error')).toMatchObject({ clientId: 'b', data: STRANGER.data });
});

it('edits at once on two instances notify each person once', async () => {
  const { id: channelId } = await openChannel(ann, [bob, cem]);
  const { id: messageId } = await say(ann, channelId);
  const edit = (n: number) =>
    (n % 2 ? app : other).call('rest', 'chat.patchMessage', { messageId, mentions: n % 3 ? [bob.id] : [cem.id, bob.id] }, ann.credentials); // prettier-ignore
  for (const outcome of await Promise.all(Array.from({ length: 12 }, (_, n) => edit(n)))) valueOf(outcome);
  for (const person of [bob, cem]) await expect.poll(() => toldTo(person, channelId), PATIENCE).toHaveLength(1);
  await other.storage.events.last();
  for (const person of [bob, cem]) expect(await toldTo(person, channelId)).toHaveLength(1);
});

it('who is named by a message whose process died at once is notified', async () => {
  const { id: channelId } = await openChannel(ann, [bob]);
  const { id: messageId } = await say(ann, channelId);
  // all that the process wrote
  await app.storage.model(messageModel).updateOne({ _id: messageId }, { $set: { mentions: [bob.id] } });
  await expect.poll(() => toldTo(bob, channelId), PATIENCE).toMatchObject([{ kind: 'mention', messageId, senderId: ann.id }]);
});
