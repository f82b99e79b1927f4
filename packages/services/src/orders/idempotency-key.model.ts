import { defineModel, type BaseRecord } from '@tandem/storage';

/** A request sent with an `Idempotency-Key` (decisions R6). `_id` is a hash of the sender and the key. */
export interface IdempotencyKeyRecord extends BaseRecord {
  bodyHash: string;
  /** The order that was or is being created. */
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
