import { defineModel, type BaseRecord } from '@tandem/storage';

/** The kinds of streams, by the services whose they are. */
export type StreamName = 'messages' | 'notifications';

/** A ticket that has not been used. `_id` is its hash: who reads the store can open no stream. */
export interface StreamTicketRecord extends BaseRecord {
  stream: StreamName;
  identityId: string;
  sessionId: string;
  /** When the access token ends by which it was asked for, and with it the stream. */
  accessExpiresAt: Date;
  expiresAt: Date;
}

export const streamTicketModel = defineModel<StreamTicketRecord>('streamTickets', {
  softDelete: false,
  fields: {
    stream: { type: String, required: true },
    identityId: { type: String, required: true },
    sessionId: { type: String, required: true },
    accessExpiresAt: { type: Date, required: true },
    expiresAt: { type: Date, required: true },
  },
  expires: 'expiresAt',
  indexes: [],
});
