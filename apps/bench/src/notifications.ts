import { randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import type { StoredNotification } from './collections.js';

/** Writes unread notifications for a receiver, as a host application may. @returns their ids */
export async function writeNotifications(db: Db, receiverId: string, count: number): Promise<string[]> {
  const start = Date.now();
  const notifications = Array.from({ length: count }, (_, at): StoredNotification => {
    const createdAt = new Date(start - at * 1000);
    return {
      _id: randomUUID(),
      receiverId,
      isRead: false,
      createdAt,
      updatedAt: createdAt,
      deletedAt: null,
      type: 'order.shipped',
      title: 'Your order is on its way',
      text: `Order ${at} was handed to the carrier and should be with you within three days.`,
    };
  });
  await db.collection<StoredNotification>('notifications').insertMany(notifications);
  return notifications.map(({ _id }) => _id);
}
