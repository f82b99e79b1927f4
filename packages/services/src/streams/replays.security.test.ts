import {
  PATIENCE,
  databaseOf,
  fixture,
  openStream,
  startStoreProxy,
  startTestServer,
  type Frame,
  type Person,
  type TestStream,
} from '@tandem/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openChannel } from '../../test/chat-world.js';

/** More than two pages of a replay. */
const MESSAGES = 250;
/** More than the kernel keeps of a connection, as a page alone is. */
const LARGE = 150;
const TEXT = 'x'.repeat(100_000);

const proxy = fixture(() => startStoreProxy(databaseOf('replays')));
const app = fixture(() => startTestServer({ mongodbUri: proxy.uri }));
const ann = fixture(() => app.signUp());

/** A channel of Ann's with messages, and Bob in it. */
async function longChannel(bob: Person): Promise<string> {
  const { id: channelId } = await openChannel(ann, [bob]);
  for (let n = 1; n <= MESSAGES; n++)
    await app.tandem.services.chat.post({ channelId, senderId: ann.id, content: `message ${n}.` });
  return channelId;
}

async function removeFrom(channelId: string, { id }: Person): Promise<void> {
  const { data } = await ann
    .rest('GET', `/subscriptions?channelId=${channelId}`)
    .expect<{ data: { id: string; subscribedId: string }[] }>(200);
  await ann.rest('DELETE', `/subscriptions/${data.find(({ subscribedId }) => subscribedId === id)?.id}`).expect(204);
}

const call = (id: number, path: string, input: object) => ({ id, method: 'subscription', params: { path, input } });
/** What was told, on either stream. */
const toldBy = ({ frames }: TestStream) =>
  frames.map((frame) => (frame as { result?: { data?: { data: Frame } } }).result?.data?.data ?? frame);

function isSecondPageOf(channelId: string) {
  return ({ collection, body }: { collection: string; body: object }) =>
    collection === 'messages' && [channelId, '"$gt":100'].every((part) => JSON.stringify(body).includes(part));
}

describe('replays', () => {
  it.each(['/messages/listen', '/trpc'])(
    'of a socket come one after the other, so that one that takes nothing holds one page of all its channels: %s',
    async (path) => {
      const bob = await app.signUp();
      const channelIds = [await longChannel(bob), await longChannel(bob)] as const;
      const [first, second] = channelIds;
      const { reached, release } = proxy.hold(isSecondPageOf(first));
      const stream = await openStream(app.url, path, bob.credentials);
      onTestFinished(stream.close);
      for (const [n, channelId] of channelIds.entries()) {
        const input = { channelId, sinceSeq: 0 };
        stream.send(path === '/trpc' ? call(n, 'chat.channelEvents', input) : { type: 'subscribe', ...input });
      }
      // the first is still read while the second begins
      await reached;
      await expect.poll(() => toldBy(stream).filter(({ type }) => type === 'subscribed').length, PATIENCE).toBe(2);
      await ann.rest('GET', `/channels/${second}/messages?limit=1`).expect(200);
      release();
      const told = () => toldBy(stream).flatMap(({ type, channelId }) => (type === 'message.created' ? [channelId] : []));
      await expect.poll(() => told().length, PATIENCE).toBe(2 * MESSAGES);
      expect(told()).toEqual(channelIds.flatMap((channelId) => Array.from({ length: MESSAGES }, () => channelId)));
    },
  );

  it('over a WebSocket at /trpc that wait for another end when they are stopped', async () => {
    const bob = await app.signUp();
    const channelIds = [await longChannel(bob), await longChannel(bob)] as const;
    const { reached, release } = proxy.hold(isSecondPageOf(channelIds[0]));
    const stream = await openStream(app.url, '/trpc', bob.credentials);
    onTestFinished(stream.close);
    for (const [n, channelId] of channelIds.entries()) stream.send(call(n, 'chat.channelEvents', { channelId, sinceSeq: 0 }));
    await reached;
    await expect.poll(() => toldBy(stream).filter(({ type }) => type === 'subscribed').length, PATIENCE).toBe(2);
    stream.send({ id: 1, method: 'subscription.stop' });
    const isStopped = () => stream.frames.some(({ id, result }) => id === 1 && (result as { type?: string }).type === 'stopped');
    const told = () => toldBy(stream).flatMap(({ type, channelId }) => (type === 'message.created' ? [channelId] : []));
    await expect.poll(isStopped, PATIENCE).toBe(true);
    // before the other goes on
    expect(told().length).toBeLessThan(MESSAGES);
    release();
    await expect.poll(() => told().length, PATIENCE).toBe(MESSAGES);
    // the next has its turn all the same
    stream.send(call(2, 'chat.channelEvents', { channelId: channelIds[1], sinceSeq: 0 }));
    await expect.poll(() => told().length, PATIENCE).toBe(2 * MESSAGES);
  });

  it('over a WebSocket at /trpc that have not begun when the membership ends go on from the same place with the next one', async () => {
    const bob = await app.signUp();
    const [first, second] = [await longChannel(bob), await longChannel(bob)];
    const { reached, release } = proxy.hold(isSecondPageOf(first));
    const stream = await openStream(app.url, '/trpc', bob.credentials);
    onTestFinished(stream.close);
    for (const [n, channelId] of [first, second].entries())
      stream.send(call(n, 'chat.channelEvents', { channelId, sinceSeq: 0 }));
    await reached;
    await expect.poll(() => toldBy(stream).filter(({ type }) => type === 'subscribed').length, PATIENCE).toBe(2);
    await app.tandem.services.chat.post({ channelId: second, senderId: ann.id, content: 'meanwhile' });
    await removeFrom(second, bob);
    const last = () => stream.frames.findLast(({ id, result }) => id === 1 && 'data' in (result as object))?.result;
    await expect.poll(last, PATIENCE).toMatchObject({ data: { id: '0', data: { type: 'unsubscribed', channelId: second } } });
    release();
  });

  it.each([
    [
      'a channel',
      'chat.channelEvents',
      async () => {
        const { id: channelId } = await openChannel(ann);
        for (let n = 0; n < LARGE; n++)
          await app.tandem.services.chat.post({ channelId, senderId: ann.id, content: 'x', metadata: { text: TEXT } });
        return { channelId, sinceSeq: 0 };
      },
    ],
    [
      'notifications',
      'notifications.events',
      async () => {
        const { id: since } = await app.tandem.services.notifications.notify(ann.id);
        for (let n = 0; n < LARGE; n++) await app.tandem.services.notifications.notify(ann.id, { text: TEXT });
        return { since };
      },
    ],
  ])('over a WebSocket at /trpc come no faster than the socket takes them: of %s', async (_name, path, prepare) => {
    const input = await prepare();
    const stream = await openStream(app.url, '/trpc', ann.credentials);
    onTestFinished(stream.close);
    stream.send(call(1, path, input));
    const told = () => toldBy(stream).filter((event) => JSON.stringify(event).length > TEXT.length).length;
    await expect.poll(told, PATIENCE).toBe(LARGE);
    expect(stream.socket.readyState).toBe(stream.socket.OPEN);
  });

  it('over server-sent events end with the membership', async () => {
    const bob = await app.signUp();
    const channelId = await longChannel(bob);
    const live = await openStream(app.url, '/messages/listen', bob.credentials);
    onTestFinished(live.close);
    live.send({ type: 'subscribe', channelId });
    await live.next('subscribed');
    const { reached, release } = proxy.hold(isSecondPageOf(channelId));
    const input = encodeURIComponent(JSON.stringify({ channelId, sinceSeq: 0 }));
    const response = await fetch(`${app.url}/trpc/chat.channelEvents?input=${input}`, {
      headers: { authorization: `Bearer ${bob.accessToken}`, accept: 'text/event-stream' },
    });
    const text = response.text();
    await reached;
    await removeFrom(channelId, bob);
    await live.next('unsubscribed');
    release();
    const said = await text;
    expect(said).toContain('message 100.');
    expect(said).not.toContain('message 101.');
    expect(said).toContain('"type":"unsubscribed"');
  });

  it('of notifications end with the session', async () => {
    const bob = await app.signUp();
    const notify = (title: string) => app.tandem.services.notifications.notify(bob.id, { title });
    const { id } = await notify('first.');
    for (let n = 1; n <= MESSAGES; n++) await notify(`notification ${n}.`);
    const live = await openStream(app.url, '/notifications/listen', bob.credentials);
    onTestFinished(live.close);
    const { reached, release } = proxy.hold(
      ({ collection, body }) => collection === 'notifications' && JSON.stringify(body).includes('"$or"'),
    );
    const input = encodeURIComponent(JSON.stringify({ since: id }));
    const response = await fetch(`${app.url}/trpc/notifications.events?input=${input}`, {
      headers: { authorization: `Bearer ${bob.accessToken}`, accept: 'text/event-stream' },
    });
    const text = response.text();
    await reached;
    await app.rest('POST', '/auth/logout', {}, bob.credentials).expect(204);
    await live.closed;
    release();
    const said = await text;
    expect(said).toContain('notification 99.');
    expect(said).not.toContain('notification 100.');
    expect(said).toContain('UNAUTHORIZED');
  });
});
