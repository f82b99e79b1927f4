import { defineModel, type BaseRecord } from '@tandem/storage';

/** The streams, named by their content. */
export type StreamName = keyof typeof SUBSCRIPTIONS;

/** The subscription with the same events as a stream: its service's auth mode applies, and scopes name it. */
export const SUBSCRIPTIONS = { messages: 'chat.channelEvents', notifications: 'notifications.events' } as const;

/** An unused ticket. `_id` is its hash, so that read access to the store opens no stream. */
export interface StreamTicketRecord extends BaseRecord {
  stream: StreamName;
  identityId: string;
  /** Of the sign-in, or of the API key. */
  sessionId: string;
  isOfKey?: boolean;
  /** Expiry of the access token that asked for the ticket, and so of the stream. */
  accessExpiresAt: Date;
  expiresAt: Date;
}

export const streamTicketModel = defineModel<StreamTicketRecord>('streamTickets', {
  softDelete: false,
  fields: {
    stream: { type: String, required: true },
    identityId: { type: String, required: true },
    sessionId: { type: String, required: true },
    isOfKey: { type: Boolean, default: false },
    accessExpiresAt: { type: Date, required: true },
    expiresAt: { type: Date, required: true },
  },
  expires: 'expiresAt',
  people: { identityId: { erased: 'remove', exported: false } },
  indexes: [],
});
