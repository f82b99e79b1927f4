import { randomUUID } from 'node:crypto';
import { ApiError, describeError, requestErrors, type Log } from '@tandem/core';
import type { FilesDriver, StoredObject } from '@tandem/drivers/files';
import { newId, timeInStore, type Fence, type Model, type Storage } from '@tandem/storage';
import type { createAddressCache } from './address-cache.js';
import type { FileRecord } from './file.model.js';
import { fileErrors as errors } from './files.errors.js';
import type { FileQuota } from './file-quota.js';
import type { GivenFile, ShownFile, UploadAddress, UploadRequest } from './files.schemas.js';
import { freeNumber, withNumber, type createTurns } from './free-numbers.js';
import { UNUSED_MS, createOneFile } from './one-file.js';
import { notUploading } from './uploads.js';

/** An upload that began before its address ended may arrive for so long after it, in milliseconds. */
const LATE_UPLOAD_MS = 5 * 60_000;
/** Addresses that one identity may have unused. */
const MAX_UNUSED = 200;
const DEFAULT_MAX = 50;

export interface AttachmentsSettings {
  /** What the files are, as `product-image`: an object that was issued for one purpose is attached as nothing else. */
  purpose: string;
  /** Files that a record may have at most. Default 50. `replacing` and `hold` keep one, whatever this says. */
  max?: number;
}

export interface AttachmentsParts {
  storage: Storage;
  Files: Model<FileRecord>;
  driver: FilesDriver | undefined;
  quota: FileQuota;
  inTurn: ReturnType<typeof createTurns>;
  addresses: ReturnType<typeof createAddressCache> | undefined;
  log: Log;
}

/** What a file is attached with. */
type Attachment = Pick<FileRecord, 'storedAs' | 'resourceId' | 'attachedAt' | 'place'> & { slot?: null };

export type Attachments = ReturnType<typeof createAttachments>;

/**
 * The files that records of one kind have. `resourceId` is the id of such a record, whose existence and whose owner the caller has looked after;
 * `identityId` is who asks. A record that is deleted softly keeps its files, and so has them again when it is restored.
 */
export function createAttachments({ purpose, max = DEFAULT_MAX }: AttachmentsSettings, parts: AttachmentsParts) {
  const { storage, Files, driver, quota, inTurn, addresses, log } = parts;
  const { collection } = Files;
  const { clock } = storage;
  const attachedTo = (resourceId: unknown) => ({ purpose, resourceId, state: 'attached' });

  function storageOf(): FilesDriver {
    if (!driver) throw new Error('there is no files driver');
    return driver;
  }

  /** The address is out of date when the file goes, so that nobody puts it there once more. */
  function removal(now: Date): object[] {
    const lateMs = (driver?.addressMs ?? 0) + LATE_UPLOAD_MS;
    const dueAt = { $max: [now, { $add: ['$createdAt', lateMs] }] };
    return [{ $set: { state: 'removing', slot: null, dueAt, updatedAt: now } }];
  }

  /** Undefined when no address can be made for it: one file that fails does not fail a list. */
  async function show({ _id: id, objectId, storedAs, type, size, attachedAt, createdAt, updatedAt }: FileRecord) {
    try {
      const object: StoredObject = { objectId: storedAs ?? objectId, type, size };
      const url = addresses && (await addresses.urlOf(object));
      if (url === undefined) return undefined;
      return { id, type, url, createdAt: (attachedAt ?? createdAt).toISOString(), updatedAt: updatedAt.toISOString() };
    } catch (error) {
      log.warn({ fileId: id, purpose, err: describeError(error) }, 'an address of a file could not be made');
      return undefined;
    }
  }

  /** The caller's object, looked at but not yet attached. @throws errors of `attach` */
  async function findGiven({ objectId, type }: GivenFile, identityId: string): Promise<FileRecord> {
    const filter = { objectId, purpose, issuedTo: identityId } as object;
    const found = (await collection.findOne(filter)) as unknown as FileRecord | null;
    if (!found || found.state === 'removing') throw errors.notFound();
    if (found.type !== type) throw errors.otherType();
    return found;
  }

  /** @throws errors.alreadyAttached, beingUploaded */
  function mustBeFree({ state, uploadingUntil }: FileRecord): void {
    if (state === 'attached') throw errors.alreadyAttached();
    if (uploadingUntil && uploadingUntil > clock.now()) throw errors.beingUploaded();
  }

  /**
   * One write: of two who attach an object at once one has it.
   * @throws errors.notFound, alreadyAttached, beingUploaded; requestErrors.unavailable where it came too late; a duplicate key where the place is taken
   */
  async function take({ _id, createdAt }: FileRecord, attachment: Attachment, until: Date, fence?: Fence): Promise<FileRecord> {
    const now = clock.now();
    const isInTime = { $and: [{ $lt: [timeInStore(clock), until] }, ...(fence ? [fence.open.$expr] : [])] };
    const isFree = { _id, state: 'issued', ...notUploading(now), $expr: isInTime } as object;
    // what it was uploaded as goes when its address is out of date, and not before the write is made that the file comes with
    const late = Math.max(now.getTime(), createdAt.getTime() + (driver?.addressMs ?? 0)) + LATE_UPLOAD_MS;
    const attached = await collection.findOneAndUpdate(
      isFree,
      { $set: { state: 'attached', ...attachment, dueAt: new Date(late), updatedAt: now } },
      { returnDocument: 'after' },
    );
    if (attached) return attached as unknown as FileRecord;
    const found = (await collection.findOne({ _id } as object)) as unknown as FileRecord | null;
    if (!found || found.state === 'removing') throw errors.notFound();
    mustBeFree(found);
    throw requestErrors.unavailable();
  }

  /** Removes a copy that is not the file. What cannot be removed now goes with the file, or once it is attached. */
  async function dropCopy({ _id }: FileRecord, key: string): Promise<void> {
    try {
      await storageOf().remove(key);
      await collection.updateOne({ _id } as object, { $pull: { copies: key } } as object);
    } catch (error) {
      log.warn({ fileId: _id, purpose, err: describeError(error) }, 'a copy of a file was not removed; it goes later');
    }
  }

  /**
   * Attaches a copy of an uploaded object, which nobody has an address to change (decision H16).
   * @param attach the write that attaches
   * @param key of the copy
   * @throws errors.alreadyAttached, beingUploaded, notUploaded, quotaExceeded; what `attach` throws
   */
  async function attachCopy(
    found: FileRecord,
    attach: (storedAs: string, until: Date) => Promise<FileRecord>,
    key: string = randomUUID(),
  ) {
    mustBeFree(found);
    return quota.within(found, key, async (until) => {
      const { matchedCount } = await collection.updateOne({ _id: found._id, state: 'issued' } as object, { $push: { copies: key } } as object); // prettier-ignore
      if (matchedCount === 0) throw errors.alreadyAttached();
      try {
        if (!(await storageOf().copy(found, key))) throw errors.notUploaded();
        return await attach(key, until);
      } catch (error) {
        // after any other failure nobody knows whether it was attached
        if (error instanceof ApiError) await dropCopy(found, key);
        throw error;
      }
    });
  }

  /** The files of these records, oldest first, in one query; a record without files is not in the map. */
  async function of(resourceIds: readonly string[]): Promise<Map<string, ShownFile[]>> {
    const files = new Map<string, ShownFile[]>();
    if (resourceIds.length === 0) return files;
    const filter = attachedTo({ $in: resourceIds }) as object;
    const records = (await collection.find(filter, { sort: { attachedAt: 1, _id: 1 } }).toArray()) as unknown as FileRecord[];
    const shown = await Promise.all(records.map(show));
    for (const [at, { resourceId }] of records.entries()) {
      const file = shown[at];
      if (file && resourceId !== null) files.set(resourceId, [...(files.get(resourceId) ?? []), file]);
    }
    return files;
  }

  return {
    of,

    /** Ids of a record's files. */
    async idsOf(resourceId: string): Promise<Set<string>> {
      const found = await collection.find(attachedTo(resourceId) as object, { projection: { _id: 1 } }).toArray();
      return new Set(found.map(({ _id }) => String(_id)));
    },

    /**
     * An address to upload a file to. The object is the caller's, for this purpose, type and size, for a day.
     * @throws errors.tooManyUnused; Error when there is no storage, or it cannot sign
     */
    async issue({ contentType: type, contentLength: size }: UploadRequest, identityId: string): Promise<UploadAddress> {
      const driverOf = storageOf();
      const objectId = randomUUID();
      const url = await driverOf.uploadUrl({ objectId, type, size });
      const now = clock.now();
      const times = { createdAt: now, updatedAt: now, dueAt: new Date(now.getTime() + UNUSED_MS) };
      const object = { objectId, purpose, type, size, issuedTo: identityId, state: 'issued' };
      const nobodys = { storedAs: null, copies: [], uploader: null, uploadingUntil: null, resourceId: null, attachedAt: null };
      const untouched = { ...nobodys, place: null, counts: false, attempts: 0, owner: null };
      const issuing = () =>
        withNumber(
          () => freeNumber(Files, 'slot', MAX_UNUSED, { issuedTo: identityId, slot: { $gte: 0 } }),
          () => errors.tooManyUnused({ retryAfter: driverOf.addressMs / 1000 }),
          (slot) => collection.insertOne({ _id: newId(clock), ...object, slot, ...untouched, ...times } as object),
        );
      await inTurn(identityId, issuing);
      return { objectId, url };
    },

    /**
     * Adds an uploaded file to a record.
     * @throws ATTACH_ERRORS; errors.tooMany beside as many as a record may have
     */
    async attach(resourceId: string, given: GivenFile, identityId: string): Promise<ShownFile> {
      const found = await findGiven(given, identityId);
      const attached = await attachCopy(found, (storedAs, until) =>
        withNumber(
          () => freeNumber(Files, 'place', max, attachedTo(resourceId)),
          () => errors.tooMany({ max: String(max) }),
          (place) => take(found, { storedAs, resourceId, attachedAt: clock.now(), place, slot: null }, until),
        ),
      );
      const shown = await show(attached);
      if (!shown) throw new Error('an attached file has no address');
      return shown;
    },

    /** Removes one file of a record; it leaves the storage later. @returns whether there was one */
    async remove(resourceId: string, fileId: string): Promise<boolean> {
      const filter = { _id: fileId, ...attachedTo(resourceId) } as object;
      return (await collection.updateOne(filter, removal(clock.now()))).modifiedCount > 0;
    },

    /** Removes all files of records that are gone for good. Again is fine. */
    async removeAll(resourceIds: readonly string[]): Promise<void> {
      await collection.updateMany(attachedTo({ $in: resourceIds }), removal(clock.now()));
    },

    ...createOneFile({
      purpose,
      storage,
      Files,
      attachedTo,
      of,
      findGiven,
      attachCopy(file, fence) {
        const { resourceId, attachedAt } = file;
        // it keeps its place among the unused ones until the write is made that it comes with, since it may be given back
        const attach = (storedAs: string, until: Date) =>
          take(file, { storedAs, resourceId, attachedAt, place: null }, until, fence);
        return attachCopy(file, attach, file.storedAs);
      },
      dropCopy,
      removal,
    }),
  };
}
