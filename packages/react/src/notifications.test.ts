import { queryOf, type Notification } from '@tandem/client';
import { PATIENCE, fixture, startTestServer } from '@tandem/testing';
import { createElement, useState } from 'react';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { render } from '../test/render.js';
import { createSlowFetch } from '../test/slow-fetch.js';
import { createSockets } from '../test/sockets.js';
import { tokensOf } from '../test/tokens.js';
import { useInfiniteTandemList, useNotifications, useSession, useTandem } from './index.js';

const app = fixture(startTestServer);
const services = fixture(() => app.tandem.services);

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
    const { id: third } = await services.notifications.notify(ann.id, { kind: 'third' });
    await until(([{ unread }]) => unread === 2);
    await ann.rest('POST', `/notifications/${third}/read`).expect(204);
    await until(([{ unread, notifications: all }]) => unread === 1 && all?.[0]?.isRead === true);
    await markAllRead();
    await until(([{ unread, notifications: all }]) => unread === 0 && all?.every(({ isRead }) => isRead) === true);
    await services.notifications.delete(third);
    await until((both) => both.every(({ notifications: all }) => all?.length === 2));
    await services.notifications.restore(third);
    await until((both) => both.every(({ notifications: all }) => all?.[0]?.id === third));
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

  it('is not taken back by an answer that is older than what has come', async () => {
    const ann = await app.signUp();
    const slow = createSlowFetch();
    const { until, queries } = render(app, useNotifications, { tokens: tokensOf(ann), fetch: slow.fetch });
    await until(({ isLive }) => isLive);
    await expect.poll(() => queries.isFetching(), PATIENCE).toBe(0);
    const release = slow.hold();
    void queries.invalidateQueries();
    await expect.poll(slow.waiting, PATIENCE).toBeGreaterThan(0);
    await services.notifications.notify(ann.id, { kind: 'meanwhile' });
    await until(({ notifications: all }) => all?.length === 1);
    release();
    await expect.poll(() => queries.isFetching(), PATIENCE).toBe(0);
    expect(show(await until(({ unread }) => unread === 1))).toEqual({ kinds: ['meanwhile'], unread: 1, isLive: true });
  });

  it('counts what was read as read, whatever an older answer says', async () => {
    const ann = await app.signUp();
    const { id } = await services.notifications.notify(ann.id, {});
    const slow = createSlowFetch((url) => url.includes('notifications.unreadCount'));
    const hooks = () => [useNotifications(), useTandem()] as const;
    const { until, queries } = render(app, hooks, { tokens: tokensOf(ann), fetch: slow.fetch });
    const [, { queryKey }] = await until(([{ isLive, unread }]) => isLive && unread === 1);
    await expect.poll(() => queries.isFetching(), PATIENCE).toBe(0);
    const release = slow.hold();
    void queries.invalidateQueries();
    // the stream may tell the count now, and have it loaded again
    await expect.poll(slow.waiting, PATIENCE).toBeGreaterThan(0);
    await ann.rest('POST', `/notifications/${id}/read`).expect(204);
    await until(([{ unread }]) => unread === 0);
    release();
    await expect.poll(() => queries.isFetching(), PATIENCE).toBe(0);
    const counted = queries.getQueryData(queryKey('notifications.unreadCount', { identityId: ann.id }));
    expect(counted).toEqual({ unread: 0 });
  });

  it('shows the further page that was asked for when a notification came', async () => {
    const ann = await app.signUp();
    await services.notifications.notifyMany(Array.from({ length: 25 }, () => ({ receiverId: ann.id })));
    const slow = createSlowFetch((url) => url.includes('notifications.list'));
    const { until, queries } = render(app, useNotifications, { tokens: tokensOf(ann), fetch: slow.fetch });
    const { loadMore } = await until(({ isLive, notifications: all }) => isLive && all?.length === 20);
    await expect.poll(() => queries.isFetching(), PATIENCE).toBe(0);
    const release = slow.hold();
    const loading = loadMore();
    await expect.poll(slow.waiting, PATIENCE).toBe(1);
    await services.notifications.notify(ann.id, { kind: 'meanwhile' });
    await until(({ notifications: all }) => all?.[0]?.kind === 'meanwhile');
    release();
    await loading;
    await until(({ notifications: all }) => all?.length === 26 && all[0]?.kind === 'meanwhile');
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
