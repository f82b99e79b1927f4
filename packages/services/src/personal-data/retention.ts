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

const PEOPLE = 'identities';
const ORDERS = 'orders';

/** Removes deleted records for good when they have been deleted for long (decisions F8). */
export function createRetention({ storage, log, identities, records, orders }: RetentionOptions) {
  const retentionOf = (collection: string) => (collection === ORDERS ? orders : records);
  // people are not removed like others, but erased: who is to be erased later can take that back
  storage.people.onlyWhere(PEOPLE, { eraseAt: null });
  storage.people.before(PEOPLE, async (ids) => {
    await identities.eraseDeleted(ids);
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
        const removed = await storage.people.deletedBefore(collection, new Date(now - retention), { signal });
        if (removed > 0) log.info({ collection, removed }, 'records that were deleted long ago were removed');
      }
    },
  };
}
