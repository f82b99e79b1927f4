import { createNotificationStream, queryOf, rowsOf, type Notification } from '@tandem/client';
import { useInfiniteQuery, useQuery, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { createContext, use, useEffect, useEffectEvent, useMemo, useState, type ReactNode } from 'react';
import { useIdentityId, useSession } from '../session/session.js';
import { loadAgain } from '../ui/load-again.js';
import type { QueryState } from '../ui/query-failure.js';

/** Notifications loaded at once. */
const PAGE = 20;

interface Page {
  rows: Notification[];
  /** For later rows; absent where there are none. */
  nextToken?: string | undefined;
}
type Pages = InfiniteData<Page>;

/** The order of the list. */
function newestFirst(one: Notification, other: Notification): number {
  return other.createdAt.localeCompare(one.createdAt) || (one.id < other.id ? 1 : one.id > other.id ? -1 : 0);
}

const rowsOfPages = ({ pages }: Pages) => pages.flatMap(({ rows }) => rows);

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
  const { client, connection } = useSession();
  const identityId = useIdentityId();
  const queries = useQueryClient();
  const [isLive, setLive] = useState(false);
  const [newest, setNewest] = useState<Notification>();
  const listKey = ['notifications', identityId];
  const unreadKey = ['unread', identityId];

  async function load(nextToken?: string): Promise<Page> {
    const query = queryOf('notifications.list').top(PAGE);
    const { parameters } = nextToken === undefined ? query : query.after(nextToken);
    const answer = rowsOf(await client.api.notifications.list.query({ identityId, ...parameters }), parameters);
    return { rows: answer.value, nextToken: answer.nextToken };
  }

  const loading = useInfiniteQuery({
    queryKey: listKey,
    queryFn: ({ pageParam }) => load(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextToken }) => nextToken,
    // the stream keeps it fresh
    staleTime: Infinity,
  });
  const { data, isSuccess, fetchNextPage } = loading;
  const shown = useMemo(() => data && rowsOfPages(data), [data]);
  const { data: count } = useQuery({
    queryKey: unreadKey,
    queryFn: () => client.api.notifications.unreadCount.query({ identityId }),
  });

  async function loadListAgain(): Promise<void> {
    const { fetchStatus, fetchMeta } = queries.getQueryState(listKey) ?? {};
    // older ones that somebody has asked for would be given up
    if (fetchStatus !== 'idle' && fetchMeta?.fetchMore)
      await queries.refetchQueries({ queryKey: listKey }, { cancelRefetch: false });
    await loadAgain(queries, { queryKey: listKey });
  }
  function changePages(how: (page: Page, at: number) => Page): void {
    queries.setQueryData<Pages>(listKey, (loaded) => loaded && { ...loaded, pages: loaded.pages.map(how) });
    // an answer under way may be older than this change
    if (queries.isFetching({ queryKey: listKey }) > 0) void loadListAgain();
  }
  function changeRows(how: (row: Notification) => Notification): void {
    changePages((page) => ({ ...page, rows: page.rows.map(how) }));
  }
  function markUpTo(newest: Notification): void {
    changeRows((row) => (newestFirst(newest, row) <= 0 ? { ...row, isRead: true } : row));
  }
  const countAnew = () => loadAgain(queries, { queryKey: unreadKey });

  function rowsNow(): Notification[] {
    const loaded = queries.getQueryData<Pages>(listKey);
    return loaded ? rowsOfPages(loaded) : [];
  }
  const openStream = useEffectEvent(({ client: signedIn }: typeof connection) => {
    let starts = 0;
    return createNotificationStream({
      url: location.origin,
      client: signedIn,
      known: rowsNow(),
      onNotification(notification) {
        const rows = rowsNow();
        const oldest = rows.at(-1);
        // the stream starts some seconds early: ignore repeats, and sort older ones behind the loaded ones
        if (rows.some(({ id }) => id === notification.id) || (oldest && newestFirst(oldest, notification) < 0)) return;
        changePages((page, at) => (at > 0 ? page : { ...page, rows: [notification, ...page.rows].sort(newestFirst) }));
        setNewest(notification);
        void countAnew();
      },
      onRead({ upTo, ids }) {
        const anchor = rowsNow().find(({ id }) => id === upTo);
        if (ids) changeRows((row) => (ids.includes(row.id) ? { ...row, isRead: true } : row));
        if (anchor) markUpTo(anchor);
        // notifications that are not loaded here, or that were deleted or restored
        else if (!ids) void loadListAgain();
      },
      onUnread(unread) {
        queries.setQueryData(unreadKey, { unread });
        // an answer under way may be older
        if (queries.isFetching({ queryKey: unreadKey }) > 0) void countAnew();
      },
      onState(state) {
        setLive(state === 'up');
        if (state === 'down') return;
        // the stream goes on after the last one known, if any, and does not tell what was read meanwhile
        if (starts++ > 0 || rowsNow().length === 0) void loadListAgain();
      },
    });
  });
  useEffect(() => {
    if (!isSuccess) return undefined;
    const stream = openStream(connection);
    return () => {
      stream.close();
      setLive(false);
    };
  }, [isSuccess, connection]);

  const feed: Feed = {
    rows: shown,
    loading,
    unread: count?.unread ?? 0,
    isLive,
    newest,
    hasMore: loading.hasNextPage,
    loadMore: async () => void (await fetchNextPage()),
    async markRead(notificationId) {
      await client.api.notifications.markRead.mutate({ notificationId });
      changeRows((row) => (row.id === notificationId ? { ...row, isRead: true } : row));
      void countAnew();
    },
    async markAllRead() {
      const newest = shown?.[0];
      if (!newest) return;
      await client.api.notifications.markReadUpTo.mutate({ identityId, lastReadNotificationId: newest.id });
      markUpTo(newest);
      void countAnew();
    },
  };
  return <FeedContext value={feed}>{children}</FeedContext>;
}
