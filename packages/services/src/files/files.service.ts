import { describeError, type Log } from '@tandem/core';
import type { FilesDriver } from '@tandem/drivers/files';
import { createQueueWorker, type Storage } from '@tandem/storage';
import { createAddressCache } from './address-cache.js';
import { createAttachments, type Attachments, type AttachmentsSettings } from './attachments.js';
import { createFileLookup } from './file-lookup.js';
import { fileModel, type FileRecord } from './file.model.js';
import { createFilesErasure } from './files-erasure.js';
import { createWholeFiles } from './files-export.js';
import { createFileQueue } from './file-queue.js';
import { createFileQuota } from './file-quota.js';
import { createTurns } from '../shared/turns.js';
import { UNUSED_MS } from './one-file.js';
import { LATE_UPLOAD_MS } from './removal.js';
import { createUploads } from './uploads.js';

export type FilesService = ReturnType<typeof createFilesService>;

/** Poll interval for due files, in milliseconds. */
const POLL_MS = 30_000;

/** A unit that attached a file which is due began longer ago than this, in milliseconds; most have long ended then. */
const UNIT_MS = LATE_UPLOAD_MS - 60_000;

/** Storage keys to remove: all of them, or for an attached file all except its own copy. */
function leftoversOf({ state, objectId, storedAs, copies = [] }: FileRecord): string[] {
  const kept = state === 'attached' ? (storedAs ?? objectId) : undefined;
  return [objectId, ...copies].filter((key) => key !== kept);
}

interface FilesOptions {
  storage: Storage;
  log: Log;
  /** The file storage. Without one nothing can be uploaded. */
  driver: FilesDriver | undefined;
  /** Maximum number of attached bytes per identity. */
  quotaBytes: number;
}

/** Uploaded files of all services (decisions, section 6): issued, attached, and removed by a worker that retries. */
export function createFilesService({ storage, log, driver, quotaBytes }: FilesOptions) {
  const Files = storage.model(fileModel);
  const quota = createFileQuota(storage, Files, quotaBytes);
  const inTurn = createTurns();
  const queue = createFileQueue(storage, Files);
  const addresses = driver && createAddressCache(driver, storage.clock);

  /** Whether records are stored, by the purpose of their files. */
  const isStored = new Map<string, (resourceId: string) => Promise<boolean>>();

  /** An attached file without its record: one that is still to come, or never does. */
  async function awaitsRecord({ state, purpose, resourceId }: FileRecord): Promise<boolean> {
    const find = state === 'attached' && resourceId !== null ? isStored.get(purpose) : undefined;
    return find !== undefined && !(await find(resourceId as string));
  }

  /** A record's only file, attached in a unit of work that did not end: it may be given back, and then needs its upload. */
  const mayBeGivenBack = ({ state, place, counts }: FileRecord) => state === 'attached' && place === null && !counts;

  async function work(file: FileRecord): Promise<void> {
    if (mayBeGivenBack(file)) {
      const begun = new Date((await storage.time()).getTime() - UNIT_MS);
      if (await storage.hasUnitsFrom(begun)) return queue.postpone(file);
      // given back meanwhile
      if (!(await queue.isAsClaimed(file))) return;
    }
    if (!(await awaitsRecord(file))) return remove(file);
    if (storage.clock.now().getTime() < file.createdAt.getTime() + UNUSED_MS) return queue.postpone(file);
    const orphan = await queue.condemn(file);
    if (orphan) await remove(orphan);
  }

  async function remove(file: FileRecord): Promise<void> {
    try {
      // one by one, so that nothing is under way after a failure
      for (const key of leftoversOf(file)) await driver?.remove(key);
    } catch (error) {
      await queue.postpone(file);
      const about = { fileId: file._id, purpose: file.purpose, attempts: file.attempts };
      log.warn({ ...about, err: describeError(error) }, 'a file was not removed from its storage; it will be retried');
      return;
    }
    await queue.done(file);
  }

  const removing = createQueueWorker<FileRecord>({
    claim: queue.claim,
    handle: work,
    onFailure: (error) => log.warn({ err: describeError(error) }, 'files could not be removed; it will be retried'),
  });

  const lookUp = createFileLookup(Files);
  const erase = createFilesErasure({ storage, Files, driver, log });

  return {
    /** The files of one purpose, for a service whose records have files. Call once per purpose, when wiring services. */
    attachments(settings: AttachmentsSettings): Attachments {
      if (settings.isStored) isStored.set(settings.purpose, settings.isStored);
      return createAttachments(settings, { storage, Files, lookUp, driver, quota, inTurn, log, addresses });
    },

    /** Whole objects, for exports. */
    whole: createWholeFiles(Files, driver),

    /** What becomes of the files of a person who is erased. */
    erase,

    /** Exclusive uploads, for addresses that this server serves. */
    uploads: createUploads(storage, Files),

    /**
     * Removes everything due from storage, including objects that were not attached within a day.
     * @throws when the database cannot be reached. A failure of the file storage is logged and retried later
     */
    work: (): Promise<void> => (driver ? removing.work() : Promise.resolve()),

    /**
     * Starts removing due files every `pollMs` milliseconds.
     * @returns stops it, and waits for removals under way
     */
    startRemoving: (pollMs = POLL_MS): (() => Promise<void>) => (driver ? removing.start(pollMs) : () => Promise.resolve()),
  };
}
