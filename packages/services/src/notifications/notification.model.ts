import { defineModel, type Live } from '@tandem/storage';

export interface NotificationRecord extends Live {
  receiverId: string;
  /** A host may leave it out, which counts as unread (decisions R9). */
  isRead?: boolean;
  /** Whatever the host application wrote beside the fields above. */
  [field: string]: unknown;
}

export const notificationModel = defineModel<NotificationRecord>('notifications', {
  fields: {
    receiverId: { type: String, required: true },
    isRead: { type: Boolean, default: false },
  },
  openFields: true,
  indexes: [
    { keys: { receiverId: 1, createdAt: -1, _id: -1 }, serves: "a receiver's list, newest first, and its total" },
    { keys: { receiverId: 1, isRead: 1, createdAt: 1, _id: 1 }, serves: 'unread count; marking up to an anchor' },
  ],
});
