/** A notification as a host application writes it. */
export interface StoredNotification {
  _id: string;
  receiverId: string;
  isRead: boolean;
  createdAt: Date;
  updatedAt: Date;
  deletedAt: Date | null;
  type: string;
  title: string;
  text: string;
}

/** Collection of the bare route that writes two rows for each request. */
export const BARE_ROWS = 'bareRows';

export interface BareRow {
  _id: string;
  identityId: string;
  jti: string;
  successor: string | null;
  epoch: number;
  fingerprintHash: string | null;
  ip: string;
  userAgent: string;
  lastUsedAt: Date;
  expiresAt: Date;
  createdAt: Date;
  updatedAt: Date;
}
