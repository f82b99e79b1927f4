import { createNotificationStream, mutationOptions, type ListRows, type Notification } from '@tandem/client';
import type { InfiniteData } from '@tanstack/react-query';
import type { LiveOptions } from './live.js';
import { pagesKey } from './lists.js';
import { createShared } from './shared.js';
import { createStore } from './store.js';
import { keyFor, loadAgain } from './tandem.js';

type Pages = InfiniteData<ListRows<Notification>>;

/** The order of the list. */
function newestFirst(one: Notification, other: Notification): number {
  return other.createdAt.localeCompare(one.createdAt) || (one.id < other.id ? 1 : one.id > other.id ? -1 : 0);
}

/** Keeps the loaded notifications and their count up to date. */
export function createNotificationsLive({ url, WebSocket, client, identityId, isCurrent, queries }: LiveOptions) {
  const listKey = pagesKey(identityId, 'notifications.list', { identityId });
  const countKey = keyFor(identityId, 'notifications.unreadCount', { identityId });
  const isLive = createStore(false);
  const rows = () => queries.getQueryData<Pages>(listKey)?.pages.flatMap(({ value }) => value) ?? [];

  async function loadListAgain(): Promise<void> {
    const { fetchStatus, fetchMeta } = queries.getQueryState(listKey) ?? {};
    // a further page that somebody has asked for would be given up
    if (fetchStatus !== 'idle' && fetchMeta?.fetchMore)
      await queries.refetchQueries({ queryKey: listKey }, { cancelRefetch: false });
    await loadAgain(queries, listKey);
  }
  function changePages(how: (page: ListRows<Notification>, at: number) => ListRows<Notification>): void {
    queries.setQueryData<Pages>(listKey, (loaded) => loaded && { ...loaded, pages: loaded.pages.map(how) });
    // an answer under way may be older than this change
    if (queries.isFetching({ queryKey: listKey }) > 0) void loadListAgain();
  }
  function markRows(isRead: (row: Notification) => boolean): void {
    changePages((page) => ({ ...page, value: page.value.map((row) => (isRead(row) ? { ...row, isRead: true } : row)) }));
  }
  function markUpTo(id: string): void {
    const newest = rows().find((row) => row.id === id);
    if (newest) markRows((row) => newestFirst(newest, row) <= 0);
    else void loadListAgain();
  }

  let openings = 0;
  const shared = createShared(() => {
    const stream = createNotificationStream({
      url,
      client,
      WebSocket,
      known: rows(),
      onNotification(notification) {
        const known = rows();
        const oldest = known.at(-1);
        // the stream begins some seconds early: it repeats some, and may know older ones than are loaded
        if (known.some(({ id }) => id === notification.id) || (oldest && newestFirst(oldest, notification) < 0)) return;
        changePages((page, at) =>
          at > 0 ? page : { ...page, total: page.total + 1, value: [notification, ...page.value].sort(newestFirst) },
        );
        void loadAgain(queries, countKey);
      },
      onRead({ upTo, ids }) {
        if (ids) markRows(({ id }) => ids.includes(id));
        else if (upTo === undefined) void loadListAgain();
        else markUpTo(upTo);
      },
      onUnread(unread) {
        queries.setQueryData(countKey, { unread });
        // an answer under way may be older
        if (queries.isFetching({ queryKey: countKey }) > 0) void loadAgain(queries, countKey);
      },
      onState(state) {
        isLive.set(state === 'up');
        if (state === 'down') return;
        // a stream resumes after the last notification that it has told, if any, and does not tell what was read meanwhile
        if (openings++ > 0 || rows().length === 0) void loadListAgain();
      },
    });
    return {
      close() {
        stream.close();
        isLive.set(false);
      },
    };
  }, isCurrent);

  return {
    isLive,
    close: shared.close,
    /** Keeps the stream open. @returns a function that lets it close */
    listen: () => shared.use()[1],
    async markRead(notificationId: string): Promise<void> {
      await mutationOptions(client, 'notifications.markRead').mutationFn({ notificationId });
      markRows(({ id }) => id === notificationId);
      await loadAgain(queries, countKey);
    },
    /** Marks the loaded ones, and all before them. */
    async markAllRead(): Promise<void> {
      const [newest] = rows();
      if (!newest) return;
      const upTo = { identityId, lastReadNotificationId: newest.id };
      await mutationOptions(client, 'notifications.markReadUpTo').mutationFn(upTo);
      markUpTo(newest.id);
      await loadAgain(queries, countKey);
    },
  };
}
