import { defineModel, type BaseRecord } from '@tandem/storage';
import type { MailTemplateName } from './templates.js';

/** A mail that is still to be sent. It goes when the mail has; no token and no code stands in it. */
export interface QueuedMailRecord extends BaseRecord {
  template: MailTemplateName;
  to: string | null;
  identityId: string | null;
  values: Record<string, string | number>;
  /** From then on nobody would want it any more. */
  expiresAt: Date | null;
  /** When it is to be tried next; while somebody tries, until when nobody else does. */
  dueAt: Date;
  /** Tries so far, the one under way included. A try that lost its lease is told by it. */
  attempts: number;
  /** Who tries, or did last. */
  owner: string | null;
}

export const queuedMailModel = defineModel<QueuedMailRecord>('mails', {
  softDelete: false,
  fields: {
    template: { type: String, required: true },
    to: { type: String, default: null },
    identityId: { type: String, default: null },
    values: { type: Object, default: {} },
    expiresAt: { type: Date, default: null },
    dueAt: { type: Date, required: true },
    attempts: { type: Number, default: 0 },
    owner: { type: String, default: null },
  },
  indexes: [
    { keys: { dueAt: 1, _id: 1 }, serves: 'the next mail that is due' },
    { keys: { createdAt: 1 }, serves: 'the oldest mail, for the metrics' },
  ],
});
