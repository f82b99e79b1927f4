import type { Fence, Model, Storage } from '@tandem/storage';
import type { FileRecord } from './file.model.js';
import type { GivenFile, ShownFile } from './files.schemas.js';

/** After this time an object that was issued and never attached is removed, in milliseconds. */
export const UNUSED_MS = 24 * 60 * 60_000;

/** What `createAttachments` has for it. */
interface OneFileParts {
  storage: Storage;
  Files: Model<FileRecord>;
  attachedTo(resourceId: unknown): object;
  of(resourceIds: readonly string[]): Promise<Map<string, ShownFile[]>>;
  findGiven(given: GivenFile, identityId: string): Promise<FileRecord>;
  /** @param fence of the unit of work that it belongs to, if any */
  attachCopy(found: FileRecord, to: Pick<FileRecord, 'resourceId' | 'attachedAt'>, fence?: Fence): Promise<FileRecord>;
  dropCopy(file: FileRecord, key: string): Promise<void>;
  removal(now: Date): object[];
}

/** The files of records that have one at most: the file changes together with the record. */
export function createOneFile({ storage, Files, attachedTo, of, findGiven, attachCopy, dropCopy, removal }: OneFileParts) {
  const { collection } = Files;
  const { clock } = storage;

  async function currentOf(resourceId: string): Promise<FileRecord | undefined> {
    const sort = { attachedAt: -1, _id: -1 } as const;
    return ((await collection.findOne(attachedTo(resourceId), { sort })) as unknown as FileRecord | null) ?? undefined;
  }

  /** Takes an attaching back, as if it had not been: the object may be attached again. */
  async function giveBack(file: FileRecord): Promise<void> {
    const { _id, resourceId, createdAt, storedAs } = file;
    const dueAt = new Date(createdAt.getTime() + UNUSED_MS);
    const { modifiedCount } = await collection.updateOne({ _id, ...attachedTo(resourceId) } as object, {
      $set: { state: 'issued', storedAs: null, resourceId: null, attachedAt: null, dueAt, updatedAt: clock.now() },
    });
    if (modifiedCount > 0 && storedAs !== null) await dropCopy(file, storedAs);
  }

  /**
   * Leaves one file of a record, the last attached, after the write that it came with. Whoever attached an earlier one meanwhile either is seen
   * here, or sees that a later one counts already.
   */
  async function settle({ _id, resourceId, attachedAt }: FileRecord): Promise<void> {
    const ofRecord = attachedTo(resourceId);
    await collection.updateOne({ _id, ...ofRecord } as object, { $set: { counts: true, slot: null } });
    const isEarlier = { $or: [{ attachedAt: { $lt: attachedAt } }, { attachedAt, _id: { $lt: _id } }] };
    await collection.updateMany({ ...ofRecord, ...isEarlier } as object, removal(clock.now()));
    const isLater = { $or: [{ attachedAt: { $gt: attachedAt } }, { attachedAt, _id: { $gt: _id } }] };
    const later = await collection.findOne({ ...ofRecord, ...isLater, counts: true } as object, { projection: { _id: 1 } });
    if (later) await collection.updateOne({ _id, ...ofRecord } as object, removal(clock.now()));
  }

  return {
    /** The one file of each of these records, where it has one, in one query. */
    async oneOf(resourceIds: readonly string[]): Promise<Map<string, ShownFile>> {
      const files = await of(resourceIds);
      // the last one attached is the one that counts; those before it are about to go
      return new Map([...files].map(([resourceId, shown]) => [resourceId, shown[shown.length - 1] as ShownFile]));
    },

    /**
     * A write of a record that has one file at most, with the file that it shall have from then on: the same, when it is undefined or the one that
     * it has; none, when it is null. Where the write fails, the file stays what it was. What was replaced leaves the storage later.
     * @throws ATTACH_ERRORS, before anything is written; what `write` throws
     */
    async replace<T>(
      resourceId: string,
      given: GivenFile | null | undefined,
      identityId: string,
      write: () => Promise<T>,
    ): Promise<T> {
      if (given === undefined) return write();
      if (given === null) {
        const written = await write();
        await collection.updateMany(attachedTo(resourceId), removal(clock.now()));
        return written;
      }
      const [found, current] = await Promise.all([findGiven(given, identityId), currentOf(resourceId)]);
      if (current?._id === found._id) return write();
      // later than the one before it, whatever the clocks of two instances say
      const after = current?.attachedAt ? current.attachedAt.getTime() + 1 : 0;
      const attachedAt = new Date(Math.max(clock.now().getTime(), after));
      const attached = await attachCopy(found, { resourceId, attachedAt });
      let written: T;
      try {
        written = await write();
      } catch (error) {
        await giveBack(attached);
        throw error;
      }
      await settle(attached);
      return written;
    },

    /**
     * For a step of a unit of work that makes a record: attaches the file that the record comes with, if any. The step's `undo` releases it, so
     * that the file stays with a record that a sweep completes, and comes free where the sweep takes the unit back.
     * @throws ATTACH_ERRORS
     */
    async hold(resourceId: string, given: GivenFile | null | undefined, identityId: string, fence: Fence): Promise<void> {
      if (!given) return;
      const attachedAt = clock.now();
      await attachCopy(await findGiven(given, identityId), { resourceId, attachedAt }, fence);
    },

    /** Gives back what `hold` attached. Again is fine. */
    async release(resourceId: string): Promise<void> {
      const held = await currentOf(resourceId);
      if (held) await giveBack(held);
    },

    /** Lets the place among the unused files go that `hold` has kept; to be called once the unit is over. */
    async settleHeld(resourceId: string): Promise<void> {
      const held = await currentOf(resourceId);
      if (held) await settle(held);
    },
  };
}
