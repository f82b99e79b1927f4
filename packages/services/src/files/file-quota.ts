import { isDuplicateKey, timeInStore, type Model, type Storage } from '@tandem/storage';
import { fileQuotaModel, type FileQuotaRecord, type QuotaReservation } from './file-quota.model.js';
import type { FileRecord } from './file.model.js';
import { fileErrors as errors } from './files.errors.js';

/** For how long bytes are reserved if the process dies, in milliseconds: longer than any request. */
const RESERVED_MS = 60_000;

export type FileQuota = ReturnType<typeof createFileQuota>;

/**
 * How many bytes identities may have attached (decision H16). What is attached is added up from the files themselves, so that no count can
 * differ from it, whatever crashes; and who is about to attach says so first, in a row that all see in the same order.
 */
export function createFileQuota(storage: Storage, Files: Model<FileRecord>, maxBytes: number) {
  const Quotas = storage.model(fileQuotaModel);

  /** Those of the identity up to the one that is made. */
  async function announce({ _id, issuedTo, size }: FileRecord, key: string): Promise<QuotaReservation[]> {
    const now = timeInStore(storage.clock);
    const isCurrent = { $filter: { input: { $ifNull: ['$reservations', []] }, cond: { $gt: ['$$this.until', now] } } };
    const own = { key, fileId: _id, size, until: { $add: [now, RESERVED_MS] } };
    const times = { createdAt: { $ifNull: ['$createdAt', now] }, updatedAt: now };
    const push = [{ $set: { reservations: { $concatArrays: [isCurrent, [own]] }, ...times } }];
    const write = () =>
      Quotas.collection.findOneAndUpdate({ _id: issuedTo } as object, push, { upsert: true, returnDocument: 'after' });
    const written = await write().catch((error: unknown) => {
      // of two who come first at once
      if (!isDuplicateKey(error)) throw error;
      return write();
    });
    return (written as unknown as FileQuotaRecord).reservations;
  }

  /** Bytes of the files that an identity has attached, without those that are told of otherwise. */
  async function attachedBytes(issuedTo: string, without: readonly string[]): Promise<number> {
    const attached = { issuedTo, state: 'attached', _id: { $nin: without } };
    const [row] = await Files.collection
      .aggregate<{ bytes: number }>([{ $match: attached }, { $group: { _id: null, bytes: { $sum: '$size' } } }])
      .toArray();
    return row?.bytes ?? 0;
  }

  /** Where the store is away at that moment the reservation ends by itself: that is no reason to say that nothing was attached. */
  async function release(issuedTo: string, key: string): Promise<void> {
    const pull = { $pull: { reservations: { key } } } as object;
    await Quotas.collection.updateOne({ _id: issuedTo } as object, pull).catch(() => {});
  }

  return {
    /**
     * Attaches a file, if it has room beside the others of the identity that it was issued to.
     * @param attach given until when it may, by the store's clock
     * @throws errors.quotaExceeded; what `attach` throws
     */
    async within<T>(file: FileRecord, key: string, attach: (until: Date) => Promise<T>): Promise<T> {
      const reservations = await announce(file, key);
      try {
        // two may try the same file, and one that has just been attached may still be reserved: each file counts once
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
