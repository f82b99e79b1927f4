import { PingFrame } from '@tandem/core';
import { z } from 'zod';
import { NotificationSchema } from '../notifications/notifications.schemas.js';
import { Id } from '../shared/schemas.js';

/** What clients of the stream of notifications may send: nothing but a sign of life. */
export const NotificationClientFrame = z.discriminatedUnion('type', [PingFrame]);

/** What they are sent (decisions S7), beside `pong` and `error`. */
export const NotificationServerFrame = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready'), unread: z.number().int().min(0) }),
  z.object({ type: z.literal('notification.created'), notification: NotificationSchema }),
  z.object({
    type: z.literal('notifications.read'),
    upTo: Id.optional(),
    ids: z.array(Id).optional(),
    unread: z.number().int().min(0),
  }),
]);
export type NotificationServerFrame = z.infer<typeof NotificationServerFrame>;
