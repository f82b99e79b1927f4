import { createNotificationStream, queryOf, rowsOf, type Notification } from '@tandem/client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, use, useEffect, useEffectEvent, useState, type ReactNode } from 'react';
import { useIdentityId, useSession } from '../session/session.js';
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
  }
  function changeRows(how: (row: Notification) => Notification): void {
    change((loaded) => ({ ...loaded, rows: loaded.rows.map(how) }));
  }
  const countAnew = () => queries.invalidateQueries({ queryKey: unreadKey });

  const rowsNow = () => queries.getQueryData<Loaded>(listKey)?.rows ?? [];
  const openStream = useEffectEvent(() =>
    createNotificationStream({
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
        changeRows((row) =>
          ids?.includes(row.id) || (anchor && newestFirst(anchor, row) <= 0) ? { ...row, isRead: true } : row,
        );
        // notifications that are not loaded here
        if (upTo !== undefined && !anchor) void queries.invalidateQueries({ queryKey: listKey });
      },
      onUnread: (unread) => queries.setQueryData(unreadKey, { unread }),
      onState: (state) => setLive(state === 'up'),
    }),
  );
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
      const more = await load(data?.nextToken);
      change(({ rows }) => ({ rows: [...rows, ...more.rows], nextToken: more.nextToken }));
    },
    async markRead(notificationId) {
      await client.api.notifications.markRead.mutate({ notificationId });
      changeRows((row) => (row.id === notificationId ? { ...row, isRead: true } : row));
      await countAnew();
    },
    async markAllRead() {
      const lastReadNotificationId = data?.rows[0]?.id;
      if (lastReadNotificationId === undefined) return;
      await client.api.notifications.markReadUpTo.mutate({ identityId, lastReadNotificationId });
      changeRows((row) => ({ ...row, isRead: true }));
      await countAnew();
    },
  };
  return <FeedContext value={feed}>{children}</FeedContext>;
}
