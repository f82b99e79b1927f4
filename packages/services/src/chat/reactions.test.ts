import { FACES, NO_ID, PATIENCE, fixture, openStream, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listenTo, openChannel, say, subscribe } from '../../test/chat-world.js';
import type { Message } from './messages.schemas.js';
import { reactionModel } from './reaction.model.js';

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());
const bob = fixture(() => app.signUp());

const reactionsOf = async (person: Person, messageId: string) =>
  (await person.rest('GET', `/messages/${messageId}`).expect<Message>(200)).reactions;

describe.each(FACES)('a reaction over %s', (face) => {
  const call = (person: Person, procedure: string, input: Record<string, unknown>) =>
    person.call(face, `chat.${procedure}`, input);
  const done = { ok: true, value: undefined };

  it('is one an identity and key, repeated too, and shown with its count and whether it is one’s own', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const { id: messageId } = await say(ann, channelId);
    const react = (person: Person, key: string) => call(person, 'addReaction', { messageId, key });
    for (const person of [ann, ann, bob]) expect(await react(person, '👍')).toEqual(done);
    expect(await react(bob, '+1')).toEqual(done);
    const ofAnn = [
      { key: '👍', count: 2, mine: true },
      { key: '+1', count: 1, mine: false },
    ];
    const ofBob = ofAnn.map((one) => ({ ...one, mine: true }));
    for (const [person, reactions] of [
      [ann, ofAnn],
      [bob, ofBob],
    ] as const) {
      // prettier-ignore
      for (const procedure of ['listMessages', 'listMessagesOfChannel'])
        expect(await call(person, procedure, { channelId })).toMatchObject({ value: { data: [{ reactions }] } });
      expect(await call(person, 'listMessages', { channelId, $select: 'reactions', $top: 1 })).toEqual({
        ok: true,
        value: { total: 1, count: 1, value: [{ id: messageId, reactions }] },
      });
      expect(await call(person, 'getMessage', { messageId })).toMatchObject({ value: { reactions } });
      expect(await call(person, 'listChannels', { memberId: person.id, $filter: `id eq '${channelId}'` })).toMatchObject({
        value: { data: [{ lastMessage: { reactions } }] },
      });
    }
    expect(await call(ann, 'patchMessage', { messageId, content: 'new' })).toMatchObject({ value: { reactions: ofAnn } });
    expect(await call(ann, 'removeReaction', { messageId, key: '👍' })).toEqual(done);
    expect(await call(ann, 'removeReaction', { messageId, key: '👍' })).toEqual(done);
    expect(await reactionsOf(ann, messageId)).toEqual([
      { key: '👍', count: 1, mine: false },
      { key: '+1', count: 1, mine: false },
    ]);
    await call(bob, 'removeReaction', { messageId, key: '👍' });
    expect(await reactionsOf(ann, messageId)).toEqual([{ key: '+1', count: 1, mine: false }]);
  });

  it('is told once, with its number and count, and without whose it is to the reader', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const { id: messageId } = await say(ann, channelId);
    const events = listenTo(app, channelId);
    for (const procedure of ['addReaction', 'addReaction', 'removeReaction', 'removeReaction'])
      await call(bob, procedure, { messageId, key: 'ok' });
    await call(ann, 'addReaction', { messageId, key: 'ok' });
    await call(ann, 'patchMessage', { messageId, content: 'new' });
    const told = { channelId, messageId, key: 'ok' };
    expect(events).toMatchObject([
      { type: 'reaction.created', ...told, identityId: bob.id, count: 1 },
      { type: 'reaction.deleted', ...told, identityId: bob.id, count: 0 },
      { type: 'reaction.created', ...told, identityId: ann.id, count: 1 },
      { type: 'message.updated', channelId, message: { reactions: [{ key: 'ok', count: 1 }] } },
    ]);
  });

  it('has a key that is one emoji or a word, kept as NFC', async () => {
    const { id: messageId } = await say(ann, (await openChannel(ann)).id);
    const keys = ['👍', '❤️', '👩🏽‍🚀', '🇩🇪', '1️⃣', '+1', 'a_b-c', 'x'.repeat(32)];
    for (const key of keys) expect(await call(ann, 'addReaction', { messageId, key })).toEqual(done);
    expect((await reactionsOf(ann, messageId)).map(({ key }) => key)).toEqual(keys.map((key) => key.normalize('NFC')));
    for (const key of ['👍👍', 'A', 'é', '❤', 'x'.repeat(33), 'a b', '🏽a', '%'])
      expect(await call(ann, 'addReaction', { messageId, key }), key).toMatchObject({ status: 400, message: 'Validation Error' });
    const wrong = "path parameter 'key' must be one emoji, or a word of a-z, 0-9, _, + and -";
    expect(await call(ann, 'addReaction', { messageId, key: 'No' })).toMatchObject({ data: [wrong] });
  });

  it('is the member’s alone: not the admin’s, or a former member’s', async () => {
    const { id: channelId } = await openChannel(ann);
    const { id: messageId } = await say(ann, channelId);
    const { id } = await subscribe(ann, channelId, bob.id);
    await bob.rest('PUT', `/messages/${messageId}/reactions/ok`).expect(204);
    await ann.rest('DELETE', `/subscriptions/${id}`).expect(204);
    for (const procedure of ['addReaction', 'removeReaction']) {
      const of = (person: Person, message = messageId) => call(person, procedure, { messageId: message, key: 'ok' });
      const refused = { ok: false, status: 403, message: 'Identity is not subscribed to the channel' };
      for (const person of [admin, bob]) expect(await of(person)).toEqual(refused);
      expect(await of(ann, NO_ID)).toEqual(refused);
    }
    // what who has left had said stays, as messages do
    expect(await reactionsOf(ann, messageId)).toEqual([{ key: 'ok', count: 1, mine: false }]);
  });

  it('of a 21st key is refused; what is taken back frees its place', async () => {
    const { id: channelId } = await openChannel(ann, [bob]);
    const { id: messageId } = await say(ann, channelId);
    const react = (person: Person, key: string) => call(person, 'addReaction', { messageId, key });
    for (let n = 0; n < 20; n++) expect(await react(ann, `key${n}`)).toEqual(done);
    expect(await react(bob, 'more')).toEqual({ ok: false, status: 409, message: 'A message has 20 reactions at most' });
    expect(await react(bob, 'key7')).toEqual(done);
    await call(ann, 'removeReaction', { messageId, key: 'key7' });
    expect(await react(bob, 'more')).toMatchObject({ status: 409 });
    await call(ann, 'removeReaction', { messageId, key: 'key3' });
    expect(await react(bob, 'more')).toEqual(done);
    expect(await react(ann, 'key3')).toMatchObject({ status: 409 });
  });

  it('changes neither the message’s version nor its time, and hides and comes back with it', async () => {
    const { id: messageId } = await say(ann, (await openChannel(ann)).id);
    const before = await ann.rest('GET', `/messages/${messageId}`).expect<Message>(200);
    const tag = (await ann.rest('GET', `/messages/${messageId}`)).headers.get('etag');
    app.clock.advance(1000);
    await call(ann, 'addReaction', { messageId, key: '🎉' });
    const after = await ann.rest('GET', `/messages/${messageId}`);
    expect(after.headers.get('etag')).toBe(tag);
    const reactions = [{ key: '🎉', count: 1, mine: true }];
    expect(after.body).toEqual({ ...before, reactions });
    await ann.rest('DELETE', `/messages/${messageId}`).expect(204);
    expect(await call(ann, 'addReaction', { messageId, key: '🎉' })).toMatchObject({ status: 403 });
    await admin.rest('POST', `/messages/${messageId}/restore`).expect(200);
    expect(await reactionsOf(ann, messageId)).toEqual(reactions);
  });
});

it('a reaction that a process wrote that died before it told anybody is numbered and told', async () => {
  const { id: channelId } = await openChannel(ann, [bob]);
  const { id: messageId } = await say(ann, channelId);
  const stream = await openStream(app.url, '/messages/listen', ann.credentials);
  onTestFinished(stream.close);
  stream.send({ type: 'subscribe', channelId, sinceChange: 3 });
  await stream.next('replayed');
  const Reactions = app.storage.model(reactionModel);
  const last = { type: 'reaction.created', identityId: bob.id } as const;
  const of = { channelId, messageId, key: 'ok' };
  const { _id } = await Reactions.create({ ...of, slot: 0, identityIds: [bob.id], count: 1, last });
  expect(await stream.next('reaction.created')).toEqual({
    type: 'reaction.created',
    ...of,
    identityId: bob.id,
    count: 1,
    change: 4,
  });
  const gone = { identityIds: [], count: 0, deletedAt: app.clock.now(), last: { type: 'reaction.deleted', identityId: bob.id } };
  await Reactions.updateOne({ _id }, { $set: gone });
  expect(await stream.next('reaction.deleted')).toMatchObject({ ...of, identityId: bob.id, count: 0, change: 5 });
});

it('who returns is told of the reactions that it missed, as they are now', async () => {
  const { id: channelId } = await openChannel(ann, [bob]);
  const { id: messageId } = await say(ann, channelId);
  for (const person of [ann, bob]) await person.rest('PUT', `/messages/${messageId}/reactions/ok`).expect(204);
  await ann.rest('DELETE', `/messages/${messageId}/reactions/ok`).expect(204);
  const stream = await openStream(app.url, '/messages/listen', ann.credentials);
  onTestFinished(stream.close);
  stream.send({ type: 'subscribe', channelId, sinceChange: 2 });
  await stream.next('replayed');
  expect(stream.frames).toMatchObject([
    { type: 'ready' },
    { type: 'subscribed', lastChange: 6 },
    { type: 'message.created', change: 3, message: { reactions: [{ key: 'ok', count: 1 }] } },
    { type: 'reaction.created', change: 5, identityId: bob.id, count: 1 },
    { type: 'reaction.deleted', change: 6, identityId: ann.id, count: 1 },
    { type: 'replayed', change: 6 },
  ]);
});

it('no event of the log tells of reactions or of their numbers', async () => {
  const { id: channelId } = await openChannel(ann);
  const { id: messageId } = await say(ann, channelId);
  const since = await app.storage.events.last();
  await ann.rest('PUT', `/messages/${messageId}/reactions/ok`).expect(204);
  await ann.rest('PATCH', `/messages/${messageId}`, { content: 'new' }).expect(200);
  const types = async () => {
    const { data } = await admin.rest('GET', `/events?since=${since}`).expect<{ data: { type: string }[] }>(200);
    return data.map(({ type }) => type);
  };
  await expect.poll(types, PATIENCE).toEqual(['message.updated']);
});
