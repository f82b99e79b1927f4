import { describeError, type Log } from '@tandem/core';
import type { FilesDriver } from '@tandem/drivers/files';
import type { Storage } from '@tandem/storage';
import { createSending } from '../mail/sending.js';
import { createAddressCache } from './address-cache.js';
import { createAttachments, type Attachments, type AttachmentsSettings } from './attachments.js';
import { fileModel, type FileRecord } from './file.model.js';
import { createFileQueue } from './file-queue.js';
import { createFileQuota } from './file-quota.js';
import { createTurns } from './free-numbers.js';
import { createUploads } from './uploads.js';

export type FilesService = ReturnType<typeof createFilesService>;

/** How often files that are due are looked for, in milliseconds. */
const POLL_MS = 30_000;

/** What of a file is to go from the storage: all, or where it is attached all but what it is kept as. */
function leftoversOf({ state, objectId, storedAs, copies = [] }: FileRecord): string[] {
  const kept = state === 'attached' ? (storedAs ?? objectId) : undefined;
  return [objectId, ...copies].filter((key) => key !== kept);
}

interface FilesOptions {
  storage: Storage;
  log: Log;
  /** Where files are kept. Without one nothing can be uploaded. */
  driver: FilesDriver | undefined;
  /** Bytes that one identity may have attached. */
  quotaBytes: number;
}

/** Uploaded files of all services (decisions, section 6): issued, attached, and removed by a worker that tries again. */
export function createFilesService({ storage, log, driver, quotaBytes }: FilesOptions) {
  const Files = storage.model(fileModel);
  const quota = createFileQuota(storage, Files, quotaBytes);
  const inTurn = createTurns();
  const queue = createFileQueue(storage, Files);
  const addresses = driver && createAddressCache(driver, storage.clock);

  async function remove(file: FileRecord): Promise<void> {
    try {
      // one after another: after a failure nothing is under way any more
      for (const key of leftoversOf(file)) await driver?.remove(key);
    } catch (error) {
      await queue.postpone(file);
      const about = { fileId: file._id, purpose: file.purpose, attempts: file.attempts };
      log.warn({ ...about, err: describeError(error) }, 'a file was not removed from its storage; it is tried again');
      return;
    }
    await queue.done(file);
  }

  const removing = createSending<FileRecord>({
    collect: () => Promise.resolve(),
    claim: queue.claim,
    deliver: remove,
    onFailure: (error) => log.warn({ err: describeError(error) }, 'files could not be removed; it is tried again'),
  });

  return {
    /** The files of one purpose: what a service needs to let records have files. Ask once a purpose, at wiring. */
    attachments: (settings: AttachmentsSettings): Attachments =>
      createAttachments(settings, { storage, Files, driver, quota, inTurn, log, addresses }),

    /** Who may put a file where, for the addresses that the server itself answers. */
    uploads: createUploads(storage, Files),

    /**
     * Removes what is due from the storage until nothing is, what was issued a day ago and never attached among it.
     * @throws when the store cannot be reached; what the storage refuses is logged, and tried again later
     */
    work: (): Promise<void> => (driver ? removing.work() : Promise.resolve()),

    /**
     * Removes from now on, every `pollMs` milliseconds.
     * @returns stops it, and waits for what is under way
     */
    startRemoving: (pollMs = POLL_MS): (() => Promise<void>) => (driver ? removing.start(pollMs) : () => Promise.resolve()),
  };
}
