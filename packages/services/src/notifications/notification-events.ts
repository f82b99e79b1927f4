import type { Notification } from './notifications.schemas.js';

/** What an identity's open streams are told, each after its write was acknowledged (decisions S7). */
export type NotificationEvent =
  | { type: 'notification.created'; notification: Notification }
  /** One or several are read, or all up to and including an anchor. */
  | { type: 'notifications.read'; upTo?: string; ids?: string[] };

/** The topic of the event bus where an identity's notifications are told. */
export function notificationTopic(identityId: string): string {
  return `notifications:${identityId}`;
}
