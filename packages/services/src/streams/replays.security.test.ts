import { PATIENCE, fixture, openStream, startStoreProxy, startTestServer, databaseOf, type Person } from '@tandem/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openChannel } from '../../test/chat-world.js';

/** More than two pages of a replay. */
const MESSAGES = 250;

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

describe('replays', () => {
  it('of a socket come one after the other, so that one that takes nothing holds one page of all its channels', async () => {
    const bob = await app.signUp();
    const channelIds = [await longChannel(bob), await longChannel(bob)];
    const stream = await openStream(app.url, '/messages/listen', bob.credentials);
    onTestFinished(stream.close);
    for (const channelId of channelIds) stream.send({ type: 'subscribe', channelId, sinceSeq: 0 });
    const told = () => stream.frames.flatMap(({ type, channelId }) => (type === 'message.created' ? [channelId] : []));
    await expect.poll(() => told().length, PATIENCE).toBe(2 * MESSAGES);
    expect(told()).toEqual(channelIds.flatMap((channelId) => Array.from({ length: MESSAGES }, () => channelId)));
  });

  it('over server-sent events end with the membership', async () => {
    const bob = await app.signUp();
    const channelId = await longChannel(bob);
    const live = await openStream(app.url, '/messages/listen', bob.credentials);
    onTestFinished(live.close);
    live.send({ type: 'subscribe', channelId });
    await live.next('subscribed');
    const isSecondPage = ({ collection, body }: { collection: string; body: object }) =>
      collection === 'messages' && JSON.stringify(body).includes('"$gt":100');
    const { reached, release } = proxy.hold(isSecondPage);
    const input = encodeURIComponent(JSON.stringify({ channelId, sinceSeq: 0 }));
    const response = await fetch(`${app.url}/trpc/chat.channelEvents?input=${input}`, {
      headers: { authorization: `Bearer ${bob.accessToken}`, accept: 'text/event-stream' },
    });
    const text = response.text();
    await reached;
    const { data } = await ann
      .rest('GET', `/subscriptions?channelId=${channelId}`)
      .expect<{ data: { id: string; subscribedId: string }[] }>(200);
    await ann.rest('DELETE', `/subscriptions/${data.find(({ subscribedId }) => subscribedId === bob.id)?.id}`).expect(204);
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
