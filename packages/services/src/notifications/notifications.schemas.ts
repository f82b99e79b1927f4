import { z } from 'zod';
import { Id, Timestamp, pageOf, pageParameters } from '../shared/schemas.js';

/** A notification and whatever the host application wrote into it (spec, "Notification"). */
export const NotificationSchema = z
  .looseObject({ id: z.string(), receiverId: Id, isRead: z.boolean(), createdAt: Timestamp, updatedAt: Timestamp })
  .meta({ id: 'Notification' });
export type Notification = z.infer<typeof NotificationSchema>;

export const NotificationPageSchema = z.compile(pageOf(NotificationSchema));
export const UnreadCountSchema = z.object({ unread: z.number().int().min(0) });

export const notificationInput = z.strictObject({ notificationId: Id });
export const notificationListInput = z.compile(z.strictObject({ identityId: Id, ...pageParameters }));
export const unreadCountInput = z.strictObject({ identityId: Id });
export const markReadUpToInput = z.strictObject({ identityId: Id, lastReadNotificationId: Id });
