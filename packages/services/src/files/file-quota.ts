import { isDuplicateKey, timeInStore, type Model, type Storage } from '@tandem/storage';
import { fileQuotaModel, type FileQuotaRecord, type QuotaReservation } from './file-quota.model.js';
import type { FileRecord } from './file.model.js';
import { fileErrors as errors } from './files.errors.js';

/** How long a reservation lasts if the process dies, in milliseconds: longer than any request. */
const RESERVED_MS = 60_000;

export type FileQuota = ReturnType<typeof createFileQuota>;

/**
 * Limits the bytes that an identity may have attached (decisions H16). Attached bytes are summed from the files, so that no crash
 * can make a counter drift. Pending attachments first reserve their bytes in one record, whose order all instances see alike.
 */
export function createFileQuota(storage: Storage, Files: Model<FileRecord>, maxBytes: number) {
  const Quotas = storage.model(fileQuotaModel);

  /** Adds a reservation. @returns the identity's current ones, this one last */
  async function announce({ _id, issuedTo, size }: FileRecord, key: string): Promise<QuotaReservation[]> {
    const now = timeInStore(storage.clock);
    const isCurrent = { $filter: { input: { $ifNull: ['$reservations', []] }, cond: { $gt: ['$$this.until', now] } } };
    const own = { key, fileId: _id, size, until: { $add: [now, RESERVED_MS] } };
    const times = { createdAt: { $ifNull: ['$createdAt', now] }, updatedAt: now };
    const push = [{ $set: { reservations: { $concatArrays: [isCurrent, [own]] }, ...times } }];
    const write = () =>
      Quotas.collection.findOneAndUpdate({ _id: issuedTo } as object, push, { upsert: true, returnDocument: 'after' });
    const written = await write().catch((error: unknown) => {
      // two first reservations raced
      if (!isDuplicateKey(error)) throw error;
      return write();
    });
    return (written as unknown as FileQuotaRecord).reservations;
  }

  /** Attached bytes of an identity, except for files that have a reservation. */
  async function attachedBytes(issuedTo: string, without: readonly string[]): Promise<number> {
    const attached = { issuedTo, state: 'attached', _id: { $nin: without } };
    const [row] = await Files.collection
      .aggregate<{ bytes: number }>([{ $match: attached }, { $group: { _id: null, bytes: { $sum: '$size' } } }])
      .toArray();
    return row?.bytes ?? 0;
  }

  /** Errors are ignored: the reservation expires by itself, and a failed release must not hide a successful attachment. */
  async function release(issuedTo: string, key: string): Promise<void> {
    const pull = { $pull: { reservations: { key } } } as object;
    await Quotas.collection.updateOne({ _id: issuedTo } as object, pull).catch(() => {});
  }

  return {
    /** @throws errors.quotaExceeded where an identity has no room for these bytes now; `within` decides */
    async expectRoom(issuedTo: string, bytes: number): Promise<void> {
      if (bytes + (await attachedBytes(issuedTo, [])) > maxBytes) throw errors.quotaExceeded();
    },

    /**
     * Attaches a file if its identity has room for it.
     * @param attach receives the deadline, in the store's time
     * @throws errors.quotaExceeded; what `attach` throws
     */
    async within<T>(file: FileRecord, key: string, attach: (until: Date) => Promise<T>): Promise<T> {
      const reservations = await announce(file, key);
      try {
        // counts each file once: two calls may reserve the same file, and a file just attached may still be reserved
        const sizes = new Map(reservations.map(({ fileId, size }) => [fileId, size]));
        const reserved = [...sizes.values()].reduce((sum, size) => sum + size, 0);
        if (reserved + (await attachedBytes(file.issuedTo, [...sizes.keys()])) > maxBytes) throw errors.quotaExceeded();
        return await attach((reservations[reservations.length - 1] as QuotaReservation).until);
      } finally {
        await release(file.issuedTo, key);
      }
    },
  };
}
