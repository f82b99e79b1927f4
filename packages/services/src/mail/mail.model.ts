import { defineModel, queuedFields, type QueuedRecord } from '@tandem/storage';
import type { MailTemplateName } from './templates.js';

/** A mail to be sent. Removed once sent. Contains neither tokens nor codes. */
export interface QueuedMailRecord extends QueuedRecord {
  template: MailTemplateName;
  to: string | null;
  identityId: string | null;
  values: Record<string, string | number>;
  /** Whether no other mail ever gets its id. */
  isUnique: boolean;
  /** From then on the mail is useless and is not sent. */
  expiresAt: Date | null;
  dueAt: Date;
}

export const queuedMailModel = defineModel<QueuedMailRecord>('mails', {
  softDelete: false,
  people: {
    identityId: { erased: 'remove', exported: ['template', 'createdAt'] },
    to: { erased: 'remove', by: 'anyEmail', exported: ['template', 'createdAt'] },
    // of mails to others about the person
    'values.email': { erased: 'remove', by: 'anyEmail', exported: false },
    'values.newEmail': { erased: 'remove', by: 'anyEmail', exported: false },
    'values.inviterEmail': { erased: 'remove', by: 'anyEmail', exported: false },
  },
  fields: {
    template: { type: String, required: true },
    to: { type: String, default: null },
    identityId: { type: String, default: null },
    values: { type: Object, default: {} },
    isUnique: { type: Boolean, default: false },
    expiresAt: { type: Date, default: null },
    ...queuedFields,
  },
  indexes: [
    { keys: { dueAt: 1, _id: 1 }, serves: 'the next mail that is due' },
    { keys: { createdAt: 1 }, serves: 'the oldest mail, for the metrics' },
  ],
});
