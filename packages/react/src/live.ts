import type { SocketConstructor, TandemClient } from '@tandem/client';
import type { QueryClient } from '@tanstack/react-query';
import { createChatLive } from './chat-live.js';
import { createNotificationsLive } from './notifications-live.js';
import type { Router } from './tandem.js';

export interface LiveOptions {
  url: string;
  /** Default: the platform's. */
  WebSocket?: SocketConstructor | undefined;
  client: TandemClient<Router>;
  identityId: string;
  /** Whether it is still the one signed in: functions of a page that has gone may be called after that. */
  isCurrent(): boolean;
  queries: QueryClient;
}

export type Live = ReturnType<typeof createLive>;

/** The streams of one identity. Each is open while a component uses it, and writes what it hears into the query cache. */
export function createLive(options: LiveOptions) {
  const notifications = createNotificationsLive(options);
  const chat = createChatLive(options);
  return {
    notifications,
    chat,
    close(): void {
      notifications.close();
      chat.close();
    },
  };
}

/** The same for another sign-in: its hooks close their streams, and open them again. */
export const reopened = ({ notifications, chat, ...live }: Live): Live => ({
  ...live,
  notifications: { ...notifications },
  chat: { ...chat },
});
