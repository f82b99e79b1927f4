import type { FilesDriver } from '@tandem/drivers/files';
import type { FileRecord } from './file.model.js';

/** How long after the address expires an upload that began before may still arrive, in milliseconds. */
export const LATE_UPLOAD_MS = 5 * 60_000;

/** The update that queues a file's removal, not before its upload address has expired, so that nobody can upload it again. */
export function removal(driver: FilesDriver | undefined, now: Date): object[] {
  const lateMs = (driver?.addressMs ?? 0) + LATE_UPLOAD_MS;
  const dueAt = { $max: [now, { $add: ['$createdAt', lateMs] }] };
  return [{ $set: { state: 'removing', slot: null, dueAt, updatedAt: now } }];
}

/** All keys under which something may be stored. */
export function keysOf({ objectId, storedAs, copies = [] }: FileRecord): string[] {
  return [...new Set([objectId, ...copies, ...(storedAs === null ? [] : [storedAs])])];
}
