import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { Id, Timestamp } from '../shared/schemas.js';
import { notificationResource } from './notification.model.js';

/** A notification with the host application's fields (spec, "Notification"). */
export const NotificationSchema = z
  .looseObject({ id: z.string(), receiverId: Id, isRead: z.boolean(), createdAt: Timestamp, updatedAt: Timestamp })
  .meta({ id: 'Notification' });
export type Notification = z.infer<typeof NotificationSchema>;

export const notificationList = defineList(notificationResource, { row: NotificationSchema, own: { identityId: Id } });

export const UnreadCountSchema = z.object({ unread: z.number().int().min(0) });

export const notificationInput = z.strictObject({ notificationId: Id });
export const unreadCountInput = z.strictObject({ identityId: Id });
export const markReadUpToInput = z.strictObject({
  identityId: Id,
  lastReadNotificationId: Id.describe('The newest notification that was read.'),
});
