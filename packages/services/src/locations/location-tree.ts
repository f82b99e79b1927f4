import { setTimeout } from 'node:timers/promises';
import { requestErrors } from '@tandem/core';
import { isDuplicateKey, type Storage } from '@tandem/storage';
import { locationModel, locationTreeModel, type LocationTreeRecord, type TreeChange } from './location.model.js';

/** The id of the one record. */
const TREE = 'tree';
/** A change that finds others before it is decided anew so often at most, some milliseconds apart. */
const ATTEMPTS = 400;
const PAUSE_MS = 10;

/**
 * Changes of the tree of locations, one after another over all instances: whatever is decided by looking at several locations (no cycle, a
 * living parent, nothing below) is still true when it is written.
 *
 * A change is decided at one version of the tree and stored as pending by one write, which does nothing unless the tree still has that version. Then
 * it is written to its location, and is pending no more. Whoever finds a pending change writes it first; so it does not matter who dies in between,
 * and since each location keeps the version that wrote it last, a late second writing of a change does nothing.
 */
export function createLocationTree(storage: Storage) {
  const locations = storage.model(locationModel).collection;
  const tree = storage.model(locationTreeModel).collection;
  const { clock } = storage;

  async function read(): Promise<LocationTreeRecord> {
    const found = (await tree.findOne({ _id: TREE } as object)) as unknown as LocationTreeRecord | null;
    if (found) return found;
    const now = clock.now();
    const first = { _id: TREE, version: 0, pending: null, createdAt: now, updatedAt: now };
    try {
      await tree.insertOne(first as object);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    return read();
  }

  async function write(version: number, change: TreeChange): Promise<void> {
    if (change.kind === 'update') {
      const isOlder = { treeVersion: { $not: { $gte: version } } };
      const filter = { _id: change.locationId, ...isOlder } as object;
      await locations.updateOne(filter, { $set: { ...change.set, treeVersion: version } });
      return;
    }
    try {
      await locations.insertOne({ ...change.record, treeVersion: version } as object);
    } catch (error) {
      // written by somebody else: an id is never used again
      if (!isDuplicateKey(error)) throw error;
    }
  }

  /** Writes what is pending at a version, and says so. Any process may, and several at once. */
  async function finish({ version, pending }: Pick<LocationTreeRecord, 'version' | 'pending'>): Promise<void> {
    if (!pending) return;
    await write(version, pending);
    await tree.updateOne({ _id: TREE, version } as object, { $set: { pending: null, updatedAt: clock.now() } });
  }

  return {
    /** Writes what a process that died has left pending: a later change that does not go through the tree must not be overwritten by it. */
    async finishPending(): Promise<void> {
      await finish(await read());
    },

    /**
     * Makes a change.
     * @param decide looks at the locations and says what is to be written; asked again when another change came between
     * @throws what `decide` throws; requestErrors.unavailable when others change the tree for too long
     */
    async change(decide: () => Promise<TreeChange>): Promise<void> {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (attempt > 0) await setTimeout(PAUSE_MS * Math.random());
        const { version, pending } = await read();
        if (pending) {
          await finish({ version, pending });
          continue;
        }
        const change = await decide();
        const next = { version: version + 1, pending: change };
        const { modifiedCount } = await tree.updateOne({ _id: TREE, version, pending: null } as object, {
          $set: { ...next, updatedAt: clock.now() },
        });
        if (modifiedCount === 0) continue;
        await finish(next);
        return;
      }
      throw requestErrors.unavailable({ retryAfter: 1 });
    },
  };
}
