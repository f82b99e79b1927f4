import type { Notification, TandemError } from '@tandem/client';
import { skipToken } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { useInfiniteTandemList } from './lists.js';
import { useShared } from './provider.js';
import { useTandemQuery } from './queries.js';
import { NEVER } from './store.js';

export interface Notifications {
  /** Newest first; undefined until loaded. */
  notifications: readonly Notification[] | undefined;
  /** Of all, loaded or not. */
  unread: number;
  error: TandemError | null;
  /** Whether new ones appear by themselves. */
  isLive: boolean;
  hasMore: boolean;
  isLoadingMore: boolean;
  loadMore(): Promise<void>;
  markRead(notificationId: string): Promise<void>;
  /** Marks the loaded ones, and all before them. */
  markAllRead(): Promise<void>;
}

/** The signed-in identity's notifications, live. Empty while nobody is signed in. */
export function useNotifications(): Notifications {
  const { live, state } = useShared();
  const input = state.identityId === undefined ? skipToken : { identityId: state.identityId };
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteTandemList('notifications.list', input);
  const { data: count } = useTandemQuery('notifications.unreadCount', input);
  const stream = live?.notifications;
  const isLoaded = data !== undefined;
  useEffect(() => (isLoaded ? stream?.listen() : undefined), [stream, isLoaded]);
  const { subscribe, get } = stream?.isLive ?? NEVER;
  return {
    notifications: data?.rows,
    unread: count?.unread ?? 0,
    error,
    isLive: useSyncExternalStore(subscribe, get, get),
    hasMore: hasNextPage,
    isLoadingMore: isFetchingNextPage,
    loadMore: async () => void (await fetchNextPage()),
    markRead: async (id) => stream?.markRead(id),
    markAllRead: async () => stream?.markAllRead(),
  };
}
