import { defineListResource } from '@tandem/list-query';
import { listIndexes } from '@tandem/lists';
import { defineModel, type Live } from '@tandem/storage';

export interface NotificationRecord extends Live {
  receiverId: string;
  /** A host may leave it out, which means unread (decisions R9). */
  isRead?: boolean;
  /** Fields of the host application. */
  [field: string]: unknown;
}

/** Fields of the host application are shown but cannot be queried. */
export const notificationResource = defineListResource({
  name: 'notifications',
  fields: { isRead: { type: 'boolean', absent: false }, createdAt: 'date', updatedAt: 'date' },
  defaultOrder: 'createdAt desc, id desc',
});

export const notificationModel = defineModel<NotificationRecord>('notifications', {
  fields: {
    receiverId: { type: String, required: true },
    isRead: { type: Boolean, default: false },
  },
  openFields: true,
  people: {
    receiverId: { erased: 'remove' },
    // who mentions somebody
    senderId: { erased: 'replace', exported: false },
  },
  indexes: [
    ...listIndexes(notificationResource, { within: ['receiverId'], orders: ['createdAt desc'] }),
    { keys: { receiverId: 1 }, deletedToo: true, serves: 'all notifications of a person' },
    { keys: { senderId: 1 }, where: { senderId: { $gt: '' } }, deletedToo: true, serves: 'notifications that name a person' },
    { keys: { receiverId: 1, isRead: 1, createdAt: 1, _id: 1 }, serves: 'unread count and list; marking up to an anchor' },
  ],
});
