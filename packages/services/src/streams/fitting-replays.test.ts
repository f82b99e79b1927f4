import { createTRPCClient, createWSClient, wsLink } from '@trpc/client';
import { FACES, PATIENCE, fixture, openStream, startTestServer } from '@tandem/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { openChannel, say, valueOf } from '../../test/chat-world.js';
import { channelModel } from '../chat/channel.model.js';
import { messageModel } from '../chat/message.model.js';
import type { Message } from '../chat/messages.schemas.js';
import { notificationModel } from '../notifications/notification.model.js';
import type { AppRouter } from '../router.js';

/** More than are read at once, and how many of the first of them do not fit their schema. */
const COUNT = 205;
const MISFITS = 150;
const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

const app = fixture(startTestServer);
const ann = fixture(() => app.signUp());

/** The frames of a tRPC subscription. */
type Tracked = { data: { type: string } & Record<string, unknown> };
function followed(subscribe: (api: ReturnType<typeof createTRPCClient<AppRouter>>, onData: (got: Tracked) => void) => void) {
  const client = createWSClient({
    url: `${app.url.replace('http', 'ws')}/trpc`,
    connectionParams: { authorization: `Bearer ${ann.accessToken}` },
    WebSocket: WebSocket as never,
  });
  onTestFinished(() => void client.close());
  const frames: Tracked['data'][] = [];
  subscribe(createTRPCClient<AppRouter>({ links: [wsLink({ client })] }), ({ data }) => void frames.push(data));
  return frames;
}

describe('a replay of messages that do not fit their schema', () => {
  const seqsOf = (frames: readonly Record<string, unknown>[]) =>
    frames.flatMap(({ message }) => (message as { seq?: number } | undefined)?.seq ?? []);

  async function broken(): Promise<string> {
    const { id: channelId } = await openChannel(ann);
    const post = (n: number) => app.tandem.services.chat.post({ channelId, senderId: ann.id, content: `${n}` });
    await Promise.all(numbers(1, COUNT).map(post));
    const { collection } = app.storage.model(messageModel);
    await collection.updateMany({ channelId, seq: { $lte: MISFITS } }, { $set: { content: 5 } });
    return channelId;
  }

  it('leaves them out of the stream, and goes on behind a page of them', async () => {
    const channelId = await broken();
    await using stream = await openStream(app.url, '/messages/listen', ann.credentials);
    stream.send({ type: 'subscribe', channelId, sinceSeq: 1 });
    await expect.poll(() => seqsOf(stream.frames), PATIENCE).toEqual(numbers(MISFITS + 1, COUNT));
    await say(ann, channelId);
    await expect.poll(() => seqsOf(stream.frames), PATIENCE).toEqual(numbers(MISFITS + 1, COUNT + 1));
  });

  it('leaves them out of the subscription, and goes on behind a page of them', async () => {
    const channelId = await broken();
    const frames = followed((api, onData) =>
      api.chat.channelEvents.subscribe({ channelId, sinceSeq: 1 }, { onData: (got) => onData(got as unknown as Tracked) }),
    );
    await expect.poll(() => seqsOf(frames), PATIENCE).toEqual(numbers(MISFITS + 1, COUNT));
    await say(ann, channelId);
    await expect.poll(() => seqsOf(frames), PATIENCE).toEqual(numbers(MISFITS + 1, COUNT + 1));
  });
});

describe('a channel that does not fit its schema', () => {
  async function broken(): Promise<string> {
    const { id: channelId } = await openChannel(ann);
    await ann.rest('PATCH', `/channels/${channelId}`, { name: 'Coffee' }).expect(200);
    await app.storage.model(channelModel).collection.updateOne({ _id: channelId } as object, { $set: { name: 5 } });
    return channelId;
  }
  /** What is told until a post, also of another change. */
  async function toldIn(frames: readonly Record<string, unknown>[], channelId: string): Promise<unknown[]> {
    await ann.rest('PATCH', `/channels/${channelId}`, { open: true }).expect(404);
    await app.storage.events.last();
    const { id } = await say(ann, channelId);
    const posted = expect.objectContaining({ message: expect.objectContaining({ id }) as unknown }) as unknown;
    await expect.poll(() => frames, PATIENCE).toContainEqual(posted);
    return frames.map(({ type }) => type);
  }

  it('is not told as deleted to the readers of a stream', async () => {
    const channelId = await broken();
    await using stream = await openStream(app.url, '/messages/listen', ann.credentials);
    stream.send({ type: 'subscribe', channelId, sinceChange: 0 });
    expect(await toldIn(stream.frames, channelId)).not.toContain('channel.deleted');
  });

  it('is not told as deleted to subscriptions', async () => {
    const channelId = await broken();
    const frames = followed((api, onData) =>
      api.chat.channelEvents.subscribe({ channelId, sinceChange: 0 }, { onData: (got) => onData(got as unknown as Tracked) }),
    );
    expect(await toldIn(frames, channelId)).not.toContain('channel.deleted');
  });
});

describe('a replay of notifications that do not fit their schema', () => {
  const idsOf = (frames: readonly Record<string, unknown>[]) =>
    frames.flatMap(({ notification }) => (notification as { id?: string } | undefined)?.id ?? []);

  async function broken() {
    const { notifications } = app.tandem.services;
    // replays begin some seconds before their anchor
    app.clock.advance(60_000);
    const { id: since } = await notifications.notify(ann.id);
    app.clock.advance(60_000);
    const missed = await notifications.notifyMany(numbers(1, COUNT).map((n) => ({ receiverId: ann.id, n })));
    const { collection } = app.storage.model(notificationModel);
    await collection.updateMany({ receiverId: ann.id, n: { $lte: MISFITS } }, { $set: { isRead: 'yes' } });
    return { since, fitting: missed.slice(MISFITS).map(({ id }) => id) };
  }

  it('leaves them out of the stream, and goes on behind a page of them', async () => {
    const { since, fitting } = await broken();
    await using stream = await openStream(app.url, `/notifications/listen?since=${since}`, ann.credentials);
    await expect.poll(() => idsOf(stream.frames), PATIENCE).toEqual(fitting);
  });

  it('leaves them out of the subscription, and goes on behind a page of them', async () => {
    const { since, fitting } = await broken();
    const frames = followed((api, onData) =>
      api.notifications.events.subscribe({ since }, { onData: (got) => onData(got as unknown as Tracked) }),
    );
    await expect.poll(() => idsOf(frames), PATIENCE).toEqual(fitting);
  });
});

describe.each(FACES)('over %s, a message that does not fit its schema', (face) => {
  it('is no last message of its channel, and not there to who sends it again', async () => {
    const { id: channelId } = await openChannel(ann);
    const given = { channelId, senderId: ann.id, content: 'Hello', clientId: 'mine' };
    const { id } = await say(ann, channelId, given.content, given);
    const { collection } = app.storage.model(messageModel);
    await collection.updateOne({ _id: id } as object, { $set: { title: 5 } });
    expect(await ann.call(face, 'chat.listChannels', { memberId: ann.id, limit: 1 })).toMatchObject({
      value: { data: [{ id: channelId, lastSeq: 1, unread: 1, lastMessage: null }] },
    });
    const again = await ann.call(face, 'chat.createMessage', given);
    expect(again).toEqual({ ok: false, status: 404, message: 'Chat message not found' });
  });

  it('takes no number where its own is none: the channel is listed and written to', async () => {
    const { id: channelId } = await openChannel(ann);
    const { id } = await say(ann, channelId);
    const { collection } = app.storage.model(messageModel);
    await collection.updateOne({ _id: id } as object, { $set: { seq: 'first' } });
    const given = { channelId, senderId: ann.id, content: 'Hello' };
    await using other = await startTestServer({ clock: app.clock });
    const posted = await other.call(face, 'chat.createMessage', given, ann.credentials);
    const { seq } = valueOf(posted) as Message;
    // after it, if the change of the stored number has been noted by then
    expect([1, 2]).toContain(seq);
    expect(await ann.call(face, 'chat.listChannels', { memberId: ann.id, limit: 1 })).toMatchObject({
      value: { data: [{ id: channelId, lastSeq: seq, lastMessage: { content: 'Hello' } }] },
    });
  });
});
