import { queryOf, type Notification } from '@tandem/client';
import { PATIENCE, fixture, startTestServer, type Person } from '@tandem/testing';
import { focusManager } from '@tanstack/react-query';
import { createElement, useState } from 'react';
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { render } from '../test/render.js';
import { tokensOf } from '../test/tokens.js';
import { useChannel, useChannels, useInfiniteTandemList, useNotifications, useSession } from './index.js';

const app = fixture(startTestServer);
const services = fixture(() => app.tandem.services);

/** Sockets that a test can count and cut. */
function createSockets() {
  const made: WebSocket[] = [];
  class Recorded extends WebSocket {
    constructor(address: string) {
      super(address);
      made.push(this);
    }
  }
  const open = () => made.filter(({ readyState }) => readyState === WebSocket.OPEN || readyState === WebSocket.CONNECTING);
  onTestFinished(() => made.forEach((socket) => socket.terminate()));
  return { WebSocket: Recorded, open, cut: () => open().forEach((socket) => socket.terminate()) };
}

async function channelOf(owner: Person, members: Person[] = []): Promise<string> {
  const { id } = await owner.rest('POST', '/channels', { name: 'Tea', ownerId: owner.id }).expect<{ id: string }>(201);
  for (const { id: subscribedId } of members)
    await owner.rest('POST', '/subscriptions', { channelId: id, subscribedId }).expect(201);
  return id;
}
const contents = (messages: readonly { content: string }[] | undefined) => messages?.map(({ content }) => content);

describe('useInfiniteTandemList', () => {
  it('loads a list page by page, typed by its query', async () => {
    const ann = await app.signUp();
    await services.notifications.notifyMany(Array.from({ length: 5 }, (_, n) => ({ receiverId: ann.id, n })));
    const { parameters } = queryOf('notifications.list').where('isRead', 'eq', false).top(2);
    const call = () => useInfiniteTandemList('notifications.list', { identityId: ann.id, ...parameters });
    const { until } = render(app, call, { tokens: tokensOf(ann) });
    for (const loaded of [2, 4, 5]) {
      const { data, hasNextPage, fetchNextPage } = await until((list) => list.data?.rows.length === loaded);
      expect([data?.total, hasNextPage]).toEqual([5, loaded < 5]);
      expectTypeOf(data?.rows[0]?.isRead).toEqualTypeOf<boolean | undefined>();
      await fetchNextPage();
    }
  });
});

describe('useNotifications', () => {
  const show = ({ notifications: all, unread, isLive }: ReturnType<typeof useNotifications>) => ({
    kinds: all?.map(({ kind }) => kind),
    unread,
    isLive,
  });

  it('shows what comes, and what was read here or elsewhere, over one connection', async () => {
    const ann = await app.signUp();
    await services.notifications.notify(ann.id, { kind: 'first' });
    const sockets = createSockets();
    const hooks = () => [useNotifications(), useNotifications()] as const;
    const { until } = render(app, hooks, { tokens: tokensOf(ann), WebSocket: sockets.WebSocket });
    await until((both) => both.every(({ isLive }) => isLive));
    const { id } = await services.notifications.notify(ann.id, { kind: 'second' });
    const [{ markRead, markAllRead }] = await until(([one]) => one.unread === 2 && one.notifications?.length === 2);
    await markRead(id);
    const [one, other] = await until((both) => both.every(({ unread }) => unread === 1));
    expect([show(one), show(other)]).toEqual([1, 2].map(() => ({ kinds: ['second', 'first'], unread: 1, isLive: true })));
    expect(one.notifications?.map(({ isRead }) => isRead)).toEqual([true, false]);
    await markAllRead();
    await until(([{ unread, notifications: all }]) => unread === 0 && all?.every(({ isRead }) => isRead) === true);
    expect(sockets.open()).toHaveLength(1);
    expectTypeOf(one.notifications).toEqualTypeOf<readonly Notification[] | undefined>();
  });

  it('misses nothing while the connection is down', async () => {
    const ann = await app.signUp();
    const sockets = createSockets();
    const { until } = render(app, useNotifications, { tokens: tokensOf(ann), WebSocket: sockets.WebSocket });
    await until(({ isLive }) => isLive);
    for (const kind of ['one', 'two']) {
      sockets.cut();
      await until(({ isLive }) => !isLive);
      await services.notifications.notify(ann.id, { kind });
      const { unread } = await until(({ isLive, notifications: all }) => isLive && all?.[0]?.kind === kind);
      expect(unread).toBe(kind === 'one' ? 1 : 2);
    }
  });

  it('closes its connection when its last user has gone', async () => {
    const ann = await app.signUp();
    const sockets = createSockets();
    let isLive = false;
    let hide = () => {};
    function Feed() {
      ({ isLive } = useNotifications());
      return null;
    }
    const hooks = () => {
      const [isShown, setShown] = useState(true);
      hide = () => setShown(false);
      return createElement(isShown ? Feed : 'p');
    };
    render(app, hooks, { tokens: tokensOf(ann), WebSocket: sockets.WebSocket });
    await expect.poll(() => isLive, PATIENCE).toBe(true);
    hide();
    await expect.poll(() => sockets.open(), PATIENCE).toEqual([]);
  });

  it('closes its connection when the page has gone, or its identity has signed out', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const sockets = createSockets();
    const first = render(app, useNotifications, { tokens: tokensOf(ann), WebSocket: sockets.WebSocket });
    await first.until(({ isLive }) => isLive);
    first.unmount();
    await expect.poll(() => sockets.open()).toEqual([]);

    const hooks = () => [useNotifications(), useSession()] as const;
    const next = render(app, hooks, { tokens: tokensOf(bob), WebSocket: sockets.WebSocket });
    const [, { signOut }] = await next.until(([{ isLive }]) => isLive);
    await signOut();
    await expect.poll(() => sockets.open()).toEqual([]);
    const [last] = await next.until(([{ isLive }]) => !isLive);
    expect(show(last)).toEqual({ kinds: undefined, unread: 0, isLive: false });
  });
});

describe('useChannel', () => {
  it('shows the messages of a channel, and sends: pending until they are stored', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const channelId = await channelOf(ann, [bob]);
    await services.chat.post({ channelId, senderId: bob.id, content: 'before' });
    const { until, all } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann) });
    const { send } = await until(({ isLive, messages }) => isLive && messages?.length === 1);
    send('from Ann');
    await until(({ messages, pending }) => messages?.length === 2 && pending.length === 0);
    await services.chat.post({ channelId, senderId: bob.id, content: 'from Bob' });
    const { messages } = await until((channel) => channel.messages?.length === 3);
    expect(contents(messages)).toEqual(['before', 'from Ann', 'from Bob']);
    // never both pending and stored, nor neither
    const shown = all.map((channel) => [...(contents(channel.messages) ?? []), ...contents(channel.pending)!]);
    const sent = shown.findIndex((texts) => texts.includes('from Ann'));
    expect(shown.slice(sent).every((texts) => texts.filter((text) => text === 'from Ann').length === 1)).toBe(true);
  });

  it('keeps a message that the server refuses, with the reason, until it is discarded', async () => {
    const ann = await app.signUp();
    const channelId = await channelOf(ann);
    const { until } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann) });
    const { send } = await until(({ isLive }) => isLive);
    send('x'.repeat(10_001));
    const [refused] = (await until(({ pending }) => pending[0]?.failure !== undefined)).pending;
    expect(refused?.failure?.message).toBe('Validation Error');
    refused?.discard();
    await until(({ pending }) => pending.length === 0);
  });

  it('delivers what was sent and misses nothing when the connection drops, changes and deletions included', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const channelId = await channelOf(ann, [bob]);
    const sockets = createSockets();
    const { until } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann), WebSocket: sockets.WebSocket });
    const { send } = await until(({ isLive, messages }) => isLive && messages !== undefined);
    send('first');
    send('second');
    const { messages = [] } = await until((channel) => channel.messages?.length === 2);
    sockets.cut();
    await until(({ isLive }) => !isLive);
    const [first, second] = messages;
    await ann.rest('PATCH', `/messages/${first?.id}`, { content: 'changed' }).expect(200);
    await ann.rest('DELETE', `/messages/${second?.id}`).expect(204);
    await services.chat.post({ channelId, senderId: bob.id, content: 'meanwhile' });
    send('third');
    await until((channel) => contents(channel.messages)?.join() === 'changed,meanwhile,third' && channel.pending.length === 0);
  });

  it('loads earlier messages on request, and keeps them when it loads again', async () => {
    const ann = await app.signUp();
    const channelId = await channelOf(ann);
    for (let n = 1; n <= 60; n++) await services.chat.post({ channelId, senderId: ann.id, content: String(n) });
    const { until, queries } = render(app, () => useChannel(channelId), { tokens: tokensOf(ann) });
    const { hasEarlier, loadEarlier } = await until(({ messages }) => messages?.length === 50);
    expect(hasEarlier).toBe(true);
    await loadEarlier();
    const numbers = Array.from({ length: 60 }, (_, n) => String(n + 1));
    expect(contents((await until((channel) => !channel.hasEarlier)).messages)).toEqual(numbers);
    await queries.invalidateQueries();
    await services.chat.post({ channelId, senderId: ann.id, content: '61' });
    const { messages } = await until((channel) => channel.messages?.at(-1)?.content === '61');
    expect(contents(messages)).toEqual([...numbers, '61']);
  });
});

describe('useChannels', () => {
  it('shows all channels with their last message and what is unread, over the connection of useChannel', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const [tea, coffee] = [await channelOf(ann, [bob]), await channelOf(ann, [bob])];
    const sockets = createSockets();
    const hooks = () => [useChannels(), useChannel(tea)] as const;
    const { until } = render(app, hooks, { tokens: tokensOf(ann), WebSocket: sockets.WebSocket });
    await until(([{ channels, isLive }, { messages }]) => isLive && channels?.length === 2 && messages !== undefined);
    await services.chat.post({ channelId: tea, senderId: bob.id, content: 'tea?' });
    await services.chat.post({ channelId: coffee, senderId: bob.id, content: 'coffee?' });
    const [list, channel] = await until(([{ unread }]) => unread === 2);
    expect(list.channels?.map(({ id, unread, lastMessage }) => [id, unread, lastMessage?.content])).toEqual([
      [coffee, 1, 'coffee?'],
      [tea, 1, 'tea?'],
    ]);
    expect(contents(channel.messages)).toEqual(['tea?']);
    channel.markRead();
    await until(([{ unread }]) => unread === 1);
    expect(sockets.open()).toHaveLength(1);
  });

  it('shows the message before the last one when that is deleted', async () => {
    const ann = await app.signUp();
    const channelId = await channelOf(ann);
    for (const content of ['first', 'last']) await services.chat.post({ channelId, senderId: ann.id, content });
    // the list is not loaded at intervals while the page is out of focus
    focusManager.setFocused(false);
    onTestFinished(() => focusManager.setFocused(undefined));
    const { until } = render(app, useChannels, { tokens: tokensOf(ann) });
    const { channels = [] } = await until((list) => list.isLive && list.channels?.[0]?.lastMessage?.content === 'last');
    await ann.rest('DELETE', `/messages/${channels[0]?.lastMessage?.id}`).expect(204);
    await until((list) => list.channels?.[0]?.lastMessage?.content === 'first');
  });
});
