import type { Log } from '@tandem/core';
import type { Storage } from '@tandem/storage';
import type { IdentitiesService } from '../identities/identities.service.js';

interface RetentionOptions {
  storage: Storage;
  log: Log;
  identities: Pick<IdentitiesService, 'eraseDeleted'>;
  /** Milliseconds after which deleted records go for good, and deleted orders; undefined for never. */
  records: number | undefined;
  orders: number | undefined;
}

/** What is not removed like others: people are erased. */
const PEOPLE = 'identities';
const ORDERS = 'orders';

/** Removes deleted records for good when they have been deleted for long (decisions F8). */
export function createRetention({ storage, log, identities, records, orders }: RetentionOptions) {
  const retentionOf = (collection: string) => (collection === ORDERS ? orders : records);
  storage.people.before(PEOPLE, async (ids) => {
    await identities.eraseDeleted({ _id: { $in: [...ids] } });
    return [];
  });

  return {
    /** Whether there is anything to do at all. */
    isOn: records !== undefined || orders !== undefined,

    /** One pass. */
    async work({ signal }: { signal: AbortSignal }): Promise<void> {
      // what is still to be told keeps its record
      await storage.events.last();
      const now = (await storage.time()).getTime();
      for (const collection of storage.people.softDeleted()) {
        const retention = retentionOf(collection);
        if (retention === undefined) continue;
        const before = new Date(now - retention);
        if (collection === PEOPLE) {
          await identities.eraseDeleted({ deletedAt: { $gt: new Date(0), $lte: before } });
          continue;
        }
        const removed = await storage.people.deletedBefore(collection, before, { signal });
        if (removed > 0) log.info({ collection, removed }, 'records that were deleted long ago were removed');
      }
    },
  };
}
