import { randomUUID } from 'node:crypto';
import { newId, type Fence, type Model, type Storage } from '@tandem/storage';
import { createUnitNotes, type NotedRecord, type UnitWrite } from '../shared/unit-notes.js';
import type { FileRecord } from './file.model.js';
import type { GivenFile, ShownFile } from './files.schemas.js';

/** How long an issued object may stay unattached before it is removed, in milliseconds. */
export const UNUSED_MS = 24 * 60 * 60_000;

/** A file about to be attached. */
type AttachedFile = FileRecord & { storedAs: string; resourceId: string };

/** A unit that changes a record together with its file. */
interface Replacement {
  /** The note that the record's write leaves. */
  id: string;
  resourceId: string;
  /** The new file. */
  file?: AttachedFile;
  /** Without a new file: the copies of the files that are removed, which no later attachment shares. */
  removed?: (string | null)[];
}

/** The parts of `createAttachments` used here. */
interface OneFileParts {
  purpose: string;
  storage: Storage;
  Files: Model<FileRecord>;
  attachedTo(resourceId: unknown): object;
  of(resourceIds: readonly string[]): Promise<Map<string, ShownFile[]>>;
  findGiven(given: GivenFile, identityId: string): Promise<FileRecord>;
  /** Runs within a unit of work. */
  attachCopy(file: AttachedFile, fence: Fence): Promise<FileRecord>;
  dropCopy(file: FileRecord, key: string): Promise<void>;
  removal(now: Date): object[];
}

/** For records with at most one file, which changes together with the record. */
export function createOneFile({
  purpose,
  storage,
  Files,
  attachedTo,
  of,
  findGiven,
  attachCopy,
  dropCopy,
  removal,
}: OneFileParts) {
  const { collection } = Files;
  const { clock } = storage;

  async function currentOf(resourceId: string): Promise<FileRecord | undefined> {
    const sort = { attachedAt: -1, _id: -1 } as const;
    return ((await collection.findOne(attachedTo(resourceId), { sort })) as unknown as FileRecord | null) ?? undefined;
  }

  /** Undoes an attachment that does not count yet, so that the object can be attached again. */
  async function giveBack(file: FileRecord): Promise<void> {
    const { _id, resourceId, createdAt, storedAs } = file;
    const dueAt = new Date(createdAt.getTime() + UNUSED_MS);
    // identified by its copy, which no other attachment shares
    const own = { _id, ...attachedTo(resourceId), storedAs, counts: { $ne: true } };
    const { modifiedCount } = await collection.updateOne(own as object, {
      $set: { state: 'issued', storedAs: null, resourceId: null, attachedAt: null, dueAt, updatedAt: clock.now() },
    });
    if (modifiedCount > 0 && storedAs !== null) await dropCopy(file, storedAs);
  }

  /**
   * After the record's write, keeps only the file attached last. Of two concurrent changes, either this one sees the earlier
   * file, or the earlier one sees that a later file already counts.
   * @returns whether the file was still attached
   */
  async function settle({ _id, resourceId, attachedAt, storedAs }: FileRecord): Promise<boolean> {
    const ofRecord = attachedTo(resourceId);
    const own = { _id, ...ofRecord, storedAs } as object;
    const { matchedCount } = await collection.updateOne(own, { $set: { counts: true, slot: null } });
    if (matchedCount === 0) return false;
    const isEarlier = { $or: [{ attachedAt: { $lt: attachedAt } }, { attachedAt, _id: { $lt: _id } }] };
    await collection.updateMany({ ...ofRecord, ...isEarlier } as object, removal(clock.now()));
    const isLater = { $or: [{ attachedAt: { $gt: attachedAt } }, { attachedAt, _id: { $gt: _id } }] };
    const later = await collection.findOne({ ...ofRecord, ...isLater, counts: true } as object, { projection: { _id: 1 } });
    if (later) await collection.updateOne(own, removal(clock.now()));
    return true;
  }

  return {
    /** The file of each of these records that has one, by one query. */
    async oneOf(resourceIds: readonly string[]): Promise<Map<string, ShownFile>> {
      const files = await of(resourceIds);
      // the last one attached counts; earlier ones are about to be removed
      return new Map([...files].map(([resourceId, shown]) => [resourceId, shown[shown.length - 1] as ShownFile]));
    },

    /**
     * For changes of records with one file each. A change of the file is a unit of work: if the answer was 503 and nobody knows
     * whether the record was written, the next sweep finds out, and keeps or frees the file. Call once per model, when wiring
     * services.
     */
    replacing<R extends NotedRecord>(model: Model<R>) {
      const notes = createUnitNotes(model);
      /** Writes by unit id. They are not stored, because only the process of the request changes the record. */
      const writes = new Map<string, (fence: Fence) => Promise<unknown>>();
      const unit = storage.defineUnit<Replacement>({
        name: `files.replace ${purpose}`,
        steps: [
          {
            name: 'record',
            async run({ id, file }, fence) {
              if (file) await attachCopy(file, fence);
              await writes.get(id)?.(fence);
            },
            isDone: ({ id, resourceId }) => notes.has(resourceId, id),
            undo: async ({ file }) => file && giveBack(file),
          },
          {
            name: 'file',
            async run({ id, resourceId, file, removed }) {
              if (file) await settle(file);
              else await collection.updateMany({ ...attachedTo(resourceId), storedAs: { $in: removed } }, removal(clock.now()));
              await notes.remove(resourceId, id);
            },
            undo: () => Promise.resolve(),
          },
        ],
      });

      async function run<T>(change: Omit<Replacement, 'id'>, write: (unit: UnitWrite) => Promise<T>): Promise<T> {
        const id = newId(clock);
        let written: Promise<T> | undefined;
        writes.set(id, ({ open }) => (written = write({ open, note: id })));
        try {
          await unit.run({ id, ...change });
        } finally {
          writes.delete(id);
        }
        return written as Promise<T>;
      }

      /**
       * Writes a record together with its file. `given` undefined, or equal to the current file, keeps it; null removes it. If
       * the write fails, the old file stays. A replaced file is removed from storage later.
       * @param write one atomic write, which throws if nothing matches; within a unit it must use the unit's condition and leave
       * its note
       * @throws ATTACH_ERRORS, before anything is written; what `write` throws
       */
      return async function replace<T>(
        resourceId: string,
        given: GivenFile | null | undefined,
        identityId: string,
        write: (unit: UnitWrite | undefined) => Promise<T>,
      ): Promise<T> {
        if (given === undefined) return write(undefined);
        if (given === null) {
          const files = (await collection.find(attachedTo(resourceId)).toArray()) as unknown as FileRecord[];
          const removed = files.map(({ storedAs }) => storedAs ?? null);
          return removed.length === 0 ? write(undefined) : run({ resourceId, removed }, write);
        }
        const [found, current] = await Promise.all([findGiven(given, identityId), currentOf(resourceId)]);
        // the current file may belong to a change whose outcome is unknown; settling keeps it in any case
        if (current?._id === found._id && (current.counts || (await settle(current)))) return write(undefined);
        // always later than its predecessor, even if the clocks of instances differ
        const after = current?.attachedAt ? current.attachedAt.getTime() + 1 : 0;
        const attachedAt = new Date(Math.max(clock.now().getTime(), after));
        return run({ resourceId, file: { ...found, resourceId, attachedAt, storedAs: randomUUID() } }, write);
      };
    },

    /**
     * For a unit of work that creates a record: attaches the record's file, if any. The step's `undo` must call `release`. So the
     * file stays if a sweep completes the unit, and is free again if the sweep undoes it.
     * @throws ATTACH_ERRORS
     */
    async hold(resourceId: string, given: GivenFile | null | undefined, identityId: string, fence: Fence): Promise<void> {
      if (!given) return;
      const found = await findGiven(given, identityId);
      await attachCopy({ ...found, resourceId, attachedAt: clock.now(), storedAs: randomUUID() }, fence);
    },

    /** Undoes `hold`. Idempotent. */
    async release(resourceId: string): Promise<void> {
      const held = await currentOf(resourceId);
      if (held) await giveBack(held);
    },

    /** Frees the unused-address slot that `hold` has kept. Call once the unit is done. */
    async settleHeld(resourceId: string): Promise<void> {
      const held = await currentOf(resourceId);
      if (held) await settle(held);
    },
  };
}
