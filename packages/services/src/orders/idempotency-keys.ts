import { createHash } from 'node:crypto';
import { newId, type Storage } from '@tandem/storage';
import { idempotencyKeyModel, type IdempotencyKeyRecord } from './idempotency-key.model.js';
import { orderErrors as errors } from './orders.errors.js';

/** Lifetime of a key, in milliseconds (decisions R6). */
const LIFETIME_MS = 24 * 60 * 60_000;

function hash(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}

/** Maps keys to orders. Keys belong to their sender and are stored as hashes. */
export function createIdempotencyKeys(storage: Storage) {
  const { collection } = storage.model(idempotencyKeyModel);

  return {
    /** The order created with this key, if any. @throws errors.keyReused */
    async orderOf(senderId: string, key: string, body: object): Promise<string | undefined> {
      const live = { _id: hash(senderId, key), expiresAt: { $gt: storage.clock.now() } };
      const found = (await collection.findOne(live as object)) as unknown as IdempotencyKeyRecord | null;
      if (found && found.bodyHash !== hash(body)) throw errors.keyReused();
      return found?.orderId;
    },

    /**
     * Reserves the key and returns the id of the order to create, by one atomic write: concurrent calls get the same id. If the
     * process dies before the order exists, the next attempt gets the id.
     * @throws errors.keyReused
     */
    async claim(senderId: string, key: string, body: object): Promise<string> {
      const now = storage.clock.now();
      const isOpen = { $lte: [{ $ifNull: ['$expiresAt', now] }, now] };
      const fresh = {
        bodyHash: hash(body),
        orderId: newId(storage.clock),
        expiresAt: new Date(now.getTime() + LIFETIME_MS),
        createdAt: now,
        updatedAt: now,
      };
      const fields = Object.entries(fresh).map(([name, value]) => [name, { $cond: [isOpen, { $literal: value }, `$${name}`] }]);
      const taken = (await collection.findOneAndUpdate(
        { _id: hash(senderId, key) } as object,
        [{ $set: Object.fromEntries(fields) as object }],
        { upsert: true, returnDocument: 'after' },
      )) as unknown as IdempotencyKeyRecord;
      if (taken.bodyHash !== fresh.bodyHash) throw errors.keyReused();
      return taken.orderId;
    },
  };
}
export type IdempotencyKeys = ReturnType<typeof createIdempotencyKeys>;
