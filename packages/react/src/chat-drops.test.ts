import { PATIENCE, fixture, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import type { WebSocket as Socket } from 'ws';
import { channelOf, contents } from '../test/channels.js';
import { render } from '../test/render.js';
import { createSlowFetch } from '../test/slow-fetch.js';
import { createSockets } from '../test/sockets.js';
import { tokensOf } from '../test/tokens.js';
import { useChannel } from './index.js';

const app = fixture(startTestServer);
const services = fixture(() => app.tandem.services);

describe('useChannel', () => {
  it('is live again after one was removed from the channel and added again', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const channelId = await channelOf(bob);
    const of = { channelId, subscribedId: ann.id };
    const { id } = await bob.rest('POST', '/subscriptions', of).expect<{ id: string }>(201);
    const { until, queries } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann) });
    await until(({ messages }) => messages !== undefined);
    await services.chat.post({ channelId, senderId: bob.id, content: 'Tea?' });
    await until(({ messages }) => messages?.length === 1);
    await bob.rest('DELETE', `/subscriptions/${id}`).expect(204);
    await until(({ error }) => error?.status === 403);
    await bob.rest('POST', '/subscriptions', of).expect(201);
    await queries.invalidateQueries();
    await until(({ error }) => error === null);
    await services.chat.post({ channelId, senderId: bob.id, content: 'Coffee?' });
    const { messages } = await until((channel) => channel.messages?.length === 2);
    expect(contents(messages)).toEqual(['Tea?', 'Coffee?']);
  });

  it('reports what was marked read without a connection as soon as there is one', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const channelId = await channelOf(bob, [ann]);
    const post = (content: string) => services.chat.post({ channelId, senderId: bob.id, content });
    const unread = async () =>
      (await ann.rest('GET', `/channels/${channelId}/read-state`).expect<{ unread: number }>(200)).unread;
    await post('Tea?');
    const sockets = createSockets();
    const slow = createSlowFetch((url) => url.includes('chat.createListenTicket'));
    const options = { tokens: tokensOf(ann), fetch: slow.fetch, WebSocket: sockets.WebSocket };
    const open = slow.hold();
    const { until } = render(app, () => useChannel(channelId), options);
    (await until(({ messages }) => messages?.length === 1)).markRead();
    expect(await unread()).toBe(1);
    open();
    await expect.poll(unread, PATIENCE).toBe(0);
    await post('Coffee?');
    const { markRead } = await until(({ messages }) => messages?.length === 2);
    const reopen = slow.hold();
    sockets.cut();
    await until(({ isLive }) => !isLive);
    markRead();
    expect(await unread()).toBe(1);
    reopen();
    await expect.poll(unread, PATIENCE).toBe(0);
  });

  it('shows no more of what was deleted during a drop, also where the newest message had been deleted', async () => {
    const ann = await app.signUp();
    const channelId = await channelOf(ann);
    const posted: { id: string }[] = [];
    for (let n = 1; n <= 60; n++) posted.push(await services.chat.post({ channelId, senderId: ann.id, content: String(n) }));
    const remove = (message?: { id: string }) => ann.rest('DELETE', `/messages/${message?.id}`).expect(204);
    await remove(posted.at(-1));
    const sockets = createSockets();
    const { until } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann), WebSocket: sockets.WebSocket });
    const { loadEarlier } = await until(({ messages }) => messages?.length === 50 && sockets.heard('"subscribed"'));
    await loadEarlier();
    await until(({ messages }) => messages?.length === 59);
    sockets.cut();
    await until(({ isLive }) => !isLive);
    await remove(posted[0]);
    await until(({ isLive, messages = [] }) => isLive && messages.every(({ id }) => id !== posted[0]?.id));
  });

  it('shows the earlier messages that come in the same moment as the newest, loaded again', async () => {
    const ann = await app.signUp();
    const channelId = await channelOf(ann);
    for (let n = 1; n <= 60; n++) await services.chat.post({ channelId, senderId: ann.id, content: String(n) });
    const slow = createSlowFetch((url) => url.includes('listMessages'));
    const page = render(app, () => useChannel(channelId), { tokens: tokensOf(ann), fetch: slow.fetch });
    const { loadEarlier } = await page.until(({ messages, isLive }) => messages?.length === 50 && isLive);
    await expect.poll(() => page.queries.isFetching(), PATIENCE).toBe(0);
    const release = slow.hold();
    const again = page.queries.invalidateQueries();
    await expect.poll(slow.waiting, PATIENCE).toBe(1);
    const earlier = loadEarlier();
    await expect.poll(slow.waiting, PATIENCE).toBe(2);
    release();
    await Promise.all([again, earlier]);
    await page.until(({ messages }) => messages?.length === 60);
  });

  it('loads nothing again when an earlier message than those it shows gets a reply', async () => {
    const ann = await app.signUp();
    const channelId = await channelOf(ann);
    const posted: { id: string }[] = [];
    for (let n = 1; n <= 60; n++) posted.push(await services.chat.post({ channelId, senderId: ann.id, content: String(n) }));
    const replyToId = posted[0]?.id ?? '';
    await ann.rest('PUT', `/messages/${replyToId}/reactions/ok`).expect(204);
    let loads = 0;
    const counted: typeof fetch = (...request) => {
      if (new Request(...request).url.includes('listMessages')) loads += 1;
      return fetch(...request);
    };
    const sockets = createSockets();
    const options = { tokens: tokensOf(ann), fetch: counted, WebSocket: sockets.WebSocket };
    const { until, queries } = render(app, () => useChannel(channelId), options);
    await until(({ isLive, messages }) => isLive && messages?.length === 50 && sockets.heard('"subscribed"'));
    await expect.poll(() => queries.isFetching(), PATIENCE).toBe(0);
    loads = 0;
    await services.chat.post({ channelId, senderId: ann.id, content: 'Tea!', replyToId });
    await until(({ messages }) => messages?.at(-1)?.content === 'Tea!' && sockets.heard('"message.updated"'));
    await expect.poll(() => queries.isFetching(), PATIENCE).toBe(0);
    expect(loads).toBe(0);
  });

  it('does not show a message of one’s own that is acknowledged only after it was deleted', async () => {
    const ann = await app.signUp();
    const channelId = await channelOf(ann);
    const { WebSocket, cut, heard } = createSockets();
    const late: (() => void)[] = [];
    class Late extends (WebSocket as typeof Socket) {
      override emit(name: string | symbol, ...given: unknown[]): boolean {
        const frame = name === 'message' ? String(given[0]) : '';
        if (frame.includes('"message.created"')) return false;
        if (!frame.includes('"ack"')) return super.emit(name, ...given);
        return late.push(() => super.emit(name, ...given)) > 0;
      }
    }
    const { until } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann), WebSocket: Late });
    const { send } = await until(({ messages }) => messages !== undefined && heard('"subscribed"'));
    send('Tea?');
    await expect.poll(() => late.length, PATIENCE).toBe(1);
    cut();
    const stored = await ann.rest('GET', `/channels/${channelId}/messages`).expect<{ data: { id: string }[] }>(200);
    await ann.rest('DELETE', `/messages/${stored.data[0]?.id}`).expect(204);
    await expect.poll(() => late.length === 2 && heard('"message.deleted"'), PATIENCE).toBe(true);
    late[1]?.();
    const { messages } = await until(({ pending }) => pending.length === 0);
    expect(messages).toEqual([]);
  });
});
