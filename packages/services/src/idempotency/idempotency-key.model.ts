import { defineModel, type BaseRecord } from '@tandem/storage';

/** A call sent with an `Idempotency-Key` (decisions R6, E6). `_id` is a hash of caller, operation and key. */
export interface IdempotencyKeyRecord extends BaseRecord {
  /** Who called. */
  identityId: string;
  bodyHash: string;
  /** Of what is or was created; of many records, the first. */
  recordId: string;
  /** What was answered, as JSON; null until then. */
  answer: string | null;
  /** The `ETag` of the answer, if it had one. */
  etag?: string | null;
  /** The attempt that is under way, and until when, by the store's time. After it, any other may begin. */
  holder: string;
  heldUntil: Date;
  expiresAt: Date;
}

export const idempotencyKeyModel = defineModel<IdempotencyKeyRecord>('idempotencyKeys', {
  softDelete: false,
  people: { identityId: { erased: 'remove', exported: false } },
  fields: {
    identityId: { type: String },
    bodyHash: { type: String, required: true },
    recordId: { type: String, required: true },
    answer: { type: String, default: null },
    etag: { type: String, default: null },
    holder: { type: String, required: true },
    heldUntil: { type: Date, required: true },
    expiresAt: { type: Date, required: true },
  },
  expires: 'expiresAt',
  indexes: [],
});
