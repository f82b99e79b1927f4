import type { Notification } from './notifications.schemas.js';

/** Events for an identity's open streams. Each is published after its write was acknowledged (decisions S7). */
export type NotificationEvent =
  | { type: 'notification.created'; notification: Notification }
  /** Single notifications were read, or all up to and including an anchor; with neither the count has changed otherwise. */
  | { type: 'notifications.read'; upTo?: string; ids?: string[] };

/** The bus topic of an identity's notifications. */
export function notificationTopic(identityId: string): string {
  return `notifications:${identityId}`;
}
