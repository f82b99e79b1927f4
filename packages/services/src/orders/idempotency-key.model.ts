import { defineModel, type BaseRecord } from '@tandem/storage';

/** What was asked for under an `Idempotency-Key` (decisions R6). `_id` is a hash of who sent it and of the key. */
export interface IdempotencyKeyRecord extends BaseRecord {
  bodyHash: string;
  /** The order that was made, or is being made. */
  orderId: string;
  expiresAt: Date;
}

export const idempotencyKeyModel = defineModel<IdempotencyKeyRecord>('idempotencyKeys', {
  softDelete: false,
  fields: {
    bodyHash: { type: String, required: true },
    orderId: { type: String, required: true },
    expiresAt: { type: Date, required: true },
  },
  expires: 'expiresAt',
  indexes: [],
});
