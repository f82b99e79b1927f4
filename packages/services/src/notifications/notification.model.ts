import { defineListResource } from '@tandem/list-query';
import { defineModel, type Live } from '@tandem/storage';
import { listIndexes } from '../shared/list-indexes.js';

export interface NotificationRecord extends Live {
  receiverId: string;
  /** A host may leave it out, which counts as unread (decisions R9). */
  isRead?: boolean;
  /** Whatever the host application wrote beside the fields above. */
  [field: string]: unknown;
}

/** What a host wrote beside these fields is shown, and cannot be asked for. */
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
  indexes: [
    ...listIndexes(notificationResource, { within: ['receiverId'], orders: ['createdAt desc'] }),
    { keys: { receiverId: 1, isRead: 1, createdAt: 1, _id: 1 }, serves: 'unread count and list; marking up to an anchor' },
  ],
});
