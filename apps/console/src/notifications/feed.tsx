import { createNotificationStream, queryOf, rowsOf, type Notification } from '@tandem/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, use, useEffect, useEffectEvent, useState, type ReactNode } from 'react';
import { useIdentityId, useSession } from '../session/session.js';
import { loadAgain } from '../ui/load-again.js';
import type { QueryState } from '../ui/query-failure.js';

/** Notifications loaded at once. */
const PAGE = 20;

interface Loaded {
  rows: Notification[];
  /** For later rows; absent where there are none. */
  nextToken?: string | undefined;
}

/** The order of the list. */
function newestFirst(one: Notification, other: Notification): number {
  return other.createdAt.localeCompare(one.createdAt) || (one.id < other.id ? 1 : one.id > other.id ? -1 : 0);
}

export interface Feed {
  /** Newest first; undefined until loaded. */
  rows: readonly Notification[] | undefined;
  loading: QueryState;
  unread: number;
  /** Whether new ones are shown at once. */
  isLive: boolean;
  /** The last one received while this page was open. */
  newest: Notification | undefined;
  hasMore: boolean;
  loadMore(): Promise<void>;
  markRead(notificationId: string): Promise<void>;
  /** Marks those loaded here and all before them. */
  markAllRead(): Promise<void>;
}

const FeedContext = createContext<Feed | undefined>(undefined);

/** The signed-in identity's notifications, updated live. @throws Error outside its provider */
export function useFeed(): Feed {
  const feed = use(FeedContext);
  if (!feed) throw new Error('there are no notifications here');
  return feed;
}

export function FeedProvider({ children }: { children: ReactNode }) {
  const { client } = useSession();
  const identityId = useIdentityId();
  const queries = useQueryClient();
  const [isLive, setLive] = useState(false);
  const [newest, setNewest] = useState<Notification>();
  const listKey = ['notifications', identityId];
  const unreadKey = ['unread', identityId];

  async function load(nextToken?: string): Promise<Loaded> {
    const query = queryOf('notifications.list').top(PAGE);
    const { parameters } = nextToken === undefined ? query : query.after(nextToken);
    const answer = rowsOf(await client.api.notifications.list.query({ identityId, ...parameters }), parameters);
    return { rows: answer.value, nextToken: answer.nextToken };
  }

  // the stream keeps it fresh
  const loading = useQuery({ queryKey: listKey, queryFn: () => load(), staleTime: Infinity });
  const { data, isSuccess } = loading;
  const { data: count } = useQuery({
    queryKey: unreadKey,
    queryFn: () => client.api.notifications.unreadCount.query({ identityId }),
  });

  function change(how: (loaded: Loaded) => Loaded): void {
    queries.setQueryData<Loaded>(listKey, (loaded) => loaded && how(loaded));
    // an answer under way may be older than this change
    if (queries.isFetching({ queryKey: listKey }) > 0) void loadAgain(queries, { queryKey: listKey });
  }
  function changeRows(how: (row: Notification) => Notification): void {
    change((loaded) => ({ ...loaded, rows: loaded.rows.map(how) }));
  }
  function markUpTo(newest: Notification): void {
    changeRows((row) => (newestFirst(newest, row) <= 0 ? { ...row, isRead: true } : row));
  }
  const countAnew = () => queries.invalidateQueries({ queryKey: unreadKey });

  const rowsNow = () => queries.getQueryData<Loaded>(listKey)?.rows ?? [];
  const openStream = useEffectEvent(() => {
    let openings = 0;
    return createNotificationStream({
      url: location.origin,
      client,
      known: rowsNow(),
      onNotification(notification) {
        const rows = rowsNow();
        const oldest = rows.at(-1);
        // the stream starts some seconds early: ignore repeats, and sort older ones behind the loaded ones
        if (rows.some(({ id }) => id === notification.id) || (oldest && newestFirst(oldest, notification) < 0)) return;
        change((loaded) => ({ ...loaded, rows: [notification, ...loaded.rows].sort(newestFirst) }));
        setNewest(notification);
        void countAnew();
      },
      onRead({ upTo, ids }) {
        const anchor = rowsNow().find(({ id }) => id === upTo);
        if (ids) changeRows((row) => (ids.includes(row.id) ? { ...row, isRead: true } : row));
        if (anchor) markUpTo(anchor);
        // notifications that are not loaded here, or that were deleted or restored
        else if (!ids) void loadAgain(queries, { queryKey: listKey });
      },
      onUnread: (unread) => queries.setQueryData(unreadKey, { unread }),
      onState(state) {
        setLive(state === 'up');
        if (state === 'down') return;
        // the stream goes on after the last one known, if any, and does not tell what was read meanwhile
        if (openings++ > 0 || rowsNow().length === 0) void loadAgain(queries, { queryKey: listKey });
      },
    });
  });
  useEffect(() => {
    if (!isSuccess) return undefined;
    const stream = openStream();
    return () => {
      stream.close();
      setLive(false);
    };
  }, [isSuccess]);

  const feed: Feed = {
    rows: data?.rows,
    loading,
    unread: count?.unread ?? 0,
    isLive,
    newest,
    hasMore: data?.nextToken !== undefined,
    async loadMore() {
      const after = data?.nextToken;
      const more = await load(after);
      // a list that was loaded again meanwhile ends elsewhere
      change((loaded) =>
        loaded.nextToken === after ? { rows: [...loaded.rows, ...more.rows], nextToken: more.nextToken } : loaded,
      );
    },
    async markRead(notificationId) {
      await client.api.notifications.markRead.mutate({ notificationId });
      changeRows((row) => (row.id === notificationId ? { ...row, isRead: true } : row));
      void countAnew();
    },
    async markAllRead() {
      const newest = data?.rows[0];
      if (!newest) return;
      await client.api.notifications.markReadUpTo.mutate({ identityId, lastReadNotificationId: newest.id });
      markUpTo(newest);
      void countAnew();
    },
  };
  return <FeedContext value={feed}>{children}</FeedContext>;
}
