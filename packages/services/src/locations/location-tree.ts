import { setTimeout } from 'node:timers/promises';
import { requestErrors } from '@tandem/core';
import { isDuplicateKey, type Storage } from '@tandem/storage';
import { locationModel, locationTreeModel, type LocationTreeRecord, type TreeChange } from './location.model.js';

/** The id of the only record. */
const TREE = 'tree';
/** Retries of a change that meets concurrent ones, and the longest pause between them. */
const ATTEMPTS = 400;
const PAUSE_MS = 10;

/**
 * Serializes changes of the location tree over all instances, so that a decision based on several locations (no cycle, a live
 * parent, nothing below) is still true when it is written.
 *
 * A change is decided at one version of the tree, and stored as pending by one write that requires this version. Then it is
 * written to its location and is no longer pending. Any process that finds a pending change writes it first, so it does not
 * matter which process dies in between. Each location keeps the version that last wrote it, so repeating a write late has no
 * effect.
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
      // another process has written it: ids are never reused
      if (!isDuplicateKey(error)) throw error;
    }
  }

  /** Writes the pending change of a version and marks it done. Any number of processes may do so at once. */
  async function finish({ version, pending }: Pick<LocationTreeRecord, 'version' | 'pending'>): Promise<void> {
    if (!pending) return;
    await write(version, pending);
    await tree.updateOne({ _id: TREE, version } as object, { $set: { pending: null, updatedAt: clock.now() } });
  }

  return {
    /** Writes a change that a dead process left pending, so that it cannot overwrite a later change that bypasses the tree. */
    async finishPending(): Promise<void> {
      await finish(await read());
    },

    /**
     * Makes a change.
     * @param decide reads locations and returns what to write; called again after a concurrent change
     * @throws what `decide` throws; requestErrors.unavailable when concurrent changes last too long
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
