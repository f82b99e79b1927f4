import { PingFrame } from '@tandem/core';
import { z } from 'zod';
import { NotificationSchema } from '../notifications/notifications.schemas.js';
import { Id } from '../shared/schemas.js';

/** Frames that clients of the notification stream may send: pings only. */
export const NotificationClientFrame = z.discriminatedUnion('type', [PingFrame]);

/** Frames that the server sends (decisions S7), besides `pong` and `error`. */
export const NotificationServerFrame = z.discriminatedUnion('type', [
  z
    .object({ type: z.literal('ready'), unread: z.number().int().min(0) })
    .describe('The stream is open; so many notifications are unread.'),
  z
    .object({ type: z.literal('notification.created'), notification: NotificationSchema })
    .describe('A notification; some may repeat after a reconnect.'),
  z
    .object({
      type: z.literal('notifications.read'),
      upTo: Id.optional(),
      ids: z.array(Id).optional(),
      unread: z.number().int().min(0),
    })
    .describe(
      'These, or all up to one, were read; after a deletion, a restoration or an outage only the count: load them again.',
    ),
]);
export type NotificationServerFrame = z.infer<typeof NotificationServerFrame>;
