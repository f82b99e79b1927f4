import { randomUUID } from 'node:crypto';
import { ApiError, describeError, requestErrors, type Log } from '@tandem/core';
import type { FilesDriver, StoredObject } from '@tandem/drivers/files';
import { MAJORITY, newId, timeInStore, type Fence, type Model, type Storage } from '@tandem/storage';
import type { createAddressCache } from './address-cache.js';
import type { FileRecord } from './file.model.js';
import { attachedTo as attachedFor, type FileLookup } from './file-lookup.js';
import { fileErrors as errors } from './files.errors.js';
import type { FileQuota } from './file-quota.js';
import type { GivenFile, ShownFile, UploadAddress, UploadRequest } from './files.schemas.js';
import { freeNumber, withNumber } from '../shared/free-numbers.js';
import type { createTurns } from '../shared/turns.js';
import { LATE_UPLOAD_MS, removal as removalOf } from './removal.js';
import { UNUSED_MS, createOneFile } from './one-file.js';
import { notUploading } from './uploads.js';

/** Maximum number of unused upload addresses per identity. */
const MAX_UNUSED = 200;
const DEFAULT_MAX = 50;

export interface AttachmentsSettings {
  /** What the files are for, such as `product-image`. An object issued for one purpose cannot be attached for another. */
  purpose: string;
  /** Maximum number of files per record. Default 50. `replacing` and `hold` always keep one. */
  max?: number;
  /**
   * For files that are attached before their record is stored: whether it is, deleted or not. A file whose record does
   * not come within a day is removed.
   */
  isStored?(resourceId: string): Promise<boolean>;
}

export interface AttachmentsParts {
  storage: Storage;
  Files: Model<FileRecord>;
  lookUp: FileLookup;
  driver: FilesDriver | undefined;
  quota: FileQuota;
  inTurn: ReturnType<typeof createTurns>;
  addresses: ReturnType<typeof createAddressCache> | undefined;
  log: Log;
}

/** The fields set when a file is attached. */
type Attachment = Pick<FileRecord, 'storedAs' | 'resourceId' | 'attachedAt' | 'place'> & { slot?: null };

export type Attachments = ReturnType<typeof createAttachments>;

/**
 * The files of one kind of records. `resourceId` is the id of a record; the caller has checked that it exists and who owns it.
 * `identityId` is the caller. A soft-deleted record keeps its files, and has them again when restored.
 */
export function createAttachments({ purpose, max = DEFAULT_MAX }: AttachmentsSettings, parts: AttachmentsParts) {
  const { storage, Files, lookUp, driver, quota, inTurn, addresses, log } = parts;
  const { collection } = Files;
  const { clock } = storage;
  const attachedTo = (resourceId: unknown) => attachedFor(purpose, resourceId);

  function storageOf(): FilesDriver {
    if (!driver) throw new Error('no files driver is configured');
    return driver;
  }

  const removal = (now: Date) => removalOf(driver, now);

  /** Returns undefined if no address can be made, so that one failing file does not fail a list. */
  async function show({ _id: id, objectId, storedAs, type, size, attachedAt, createdAt, updatedAt }: FileRecord) {
    try {
      const object: StoredObject = { objectId: storedAs ?? objectId, type, size };
      const url = addresses && (await addresses.urlOf(object));
      if (url === undefined) return undefined;
      return { id, type, url, createdAt: (attachedAt ?? createdAt).toISOString(), updatedAt: updatedAt.toISOString() };
    } catch (error) {
      log.warn({ fileId: id, purpose, err: describeError(error) }, 'the address of a file could not be created');
      return undefined;
    }
  }

  /** The caller's object, checked but not yet attached. @throws the errors of `attach` */
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
   * Attaches the object by one write, so that of concurrent calls one succeeds.
   * @throws errors.notFound, alreadyAttached, beingUploaded; requestErrors.unavailable after `until`; a duplicate-key error when
   * the place is taken
   */
  async function take({ _id, createdAt }: FileRecord, attachment: Attachment, until: Date, fence?: Fence): Promise<FileRecord> {
    const now = clock.now();
    const isInTime = { $and: [{ $lt: [timeInStore(clock), until] }, ...(fence ? [fence.open.$expr] : [])] };
    const isFree = { _id, state: 'issued', ...notUploading(now), $expr: isInTime } as object;
    // the uploaded original is removed once its address has expired, and not before the record's write, which may still give the
    // file back
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
    throw requestErrors.unavailable({ retryAfter: 1 });
  }

  /** Removes a copy that is not attached. On failure it is removed later, with the file or after the file is attached. */
  async function dropCopy({ _id }: FileRecord, key: string): Promise<void> {
    try {
      await storageOf().remove(key);
      await collection.updateOne({ _id } as object, { $pull: { copies: key } } as object);
    } catch (error) {
      log.warn({ fileId: _id, purpose, err: describeError(error) }, 'a copy of a file was not removed; it will be removed later');
    }
  }

  /**
   * Attaches a copy of an uploaded object. Nobody has an upload address for the copy, so it cannot be changed (decisions H16).
   * @param attach the write that attaches
   * @param key storage key of the copy
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
        // after any other failure the copy may be attached, so it is kept
        if (error instanceof ApiError) await dropCopy(found, key);
        throw error;
      }
    });
  }

  /** The files of these records, oldest first, by one query. The map has no entry for a record without files. */
  async function of(resourceIds: readonly string[]): Promise<Map<string, ShownFile[]>> {
    const files = new Map<string, ShownFile[]>();
    const records = await lookUp(purpose, resourceIds);
    const shown = await Promise.all(records.map(show));
    for (const [at, file] of shown.entries()) {
      const resourceId = records[at]?.resourceId;
      if (file && resourceId) files.set(resourceId, [...(files.get(resourceId) ?? []), file]);
    }
    return files;
  }

  /**
   * Attaches an uploaded file to a record, within a unit of work while its fence is open.
   * @throws ATTACH_ERRORS; errors.tooMany when the record has the maximum
   */
  async function attach(resourceId: string, given: GivenFile, identityId: string, fence?: Fence): Promise<ShownFile> {
    const found = await findGiven(given, identityId);
    const attached = await attachCopy(found, (storedAs, until) =>
      withNumber(
        () => freeNumber(Files, 'place', max, attachedTo(resourceId)),
        () => errors.tooMany({ max: String(max) }),
        (place) => take(found, { storedAs, resourceId, attachedAt: clock.now(), place, slot: null }, until, fence),
      ),
    );
    const shown = await show(attached);
    if (!shown) throw new Error('an attached file has no address');
    return shown;
  }

  /** The caller's file, if it is attached to the record. */
  async function attached(resourceId: string, given: GivenFile, identityId: string): Promise<ShownFile | undefined> {
    const found = await findAttached(resourceId, given, identityId);
    return found ? show(found) : undefined;
  }

  async function findAttached(resourceId: string, { objectId }: GivenFile, identityId: string): Promise<FileRecord | null> {
    const filter = { objectId, issuedTo: identityId, ...attachedTo(resourceId) } as object;
    return (await collection.findOne(filter, MAJORITY)) as unknown as FileRecord | null;
  }

  /** Seconds until the oldest of an identity's unused addresses no longer counts. */
  async function untilRoom(issuedTo: string): Promise<number> {
    const oldest = collection.find({ issuedTo, slot: { $gte: 0 } } as object, { projection: { dueAt: 1 } }).sort({ dueAt: 1 });
    const [found] = (await oldest.limit(1).toArray()) as unknown as FileRecord[];
    const ms = (found?.dueAt?.getTime() ?? 0) - clock.now().getTime();
    return Math.max(1, Math.ceil(ms / 1000));
  }

  return {
    of,
    attach,
    attached,

    /** Whether it is, also where no address of it can be made. */
    isAttached: async (resourceId: string, given: GivenFile, identityId: string): Promise<boolean> =>
      (await findAttached(resourceId, given, identityId)) !== null,

    /**
     * Attaches files to a record that is about to be stored. May run again, with the same files. Needs `isStored`.
     * @throws ATTACH_ERRORS, errors.tooMany: before any of the files is attached, unless others use them meanwhile
     */
    async attachAhead(resourceId: string, given: readonly GivenFile[], identityId: string): Promise<void> {
      const left: GivenFile[] = [];
      const unique = new Map(given.map((file) => [file.objectId, file]));
      for (const file of unique.values()) if (!(await findAttached(resourceId, file, identityId))) left.push(file);
      let bytes = 0;
      for (const file of left) {
        const found = await findGiven(file, identityId);
        mustBeFree(found);
        if (!(await storageOf().holds(found))) throw errors.notUploaded();
        bytes += found.size;
      }
      if (left.length > 1) await quota.expectRoom(identityId, bytes);
      for (const file of left) await attach(resourceId, file, identityId);
    },

    /** Ids of the files of these records, by record. */
    async idsOf(resourceIds: readonly string[]): Promise<Map<string, Set<string>>> {
      const ids = new Map(resourceIds.map((id) => [id, new Set<string>()]));
      const fields = { projection: { resourceId: 1 } };
      const found = await collection.find(attachedTo({ $in: resourceIds }) as object, fields).toArray();
      for (const { _id, resourceId } of found as unknown as FileRecord[]) ids.get(resourceId ?? '')?.add(_id);
      return ids;
    },

    /**
     * Issues an upload address. For a day, the object belongs to the caller, for this purpose, type and size.
     * @throws errors.tooManyUnused; Error when there is no file storage, or it cannot sign
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
          async () => errors.tooManyUnused({ retryAfter: await untilRoom(identityId) }),
          (slot) => collection.insertOne({ _id: newId(clock), ...object, slot, ...untouched, ...times } as object),
        );
      await inTurn(identityId, issuing);
      return { objectId, url };
    },

    /** Removes a file from a record and queues its removal from storage, likewise. @returns whether there was one */
    async remove(resourceId: string, fileId: string, fence?: Fence): Promise<boolean> {
      const filter = { _id: fileId, ...attachedTo(resourceId), ...fence?.open } as object;
      return (await collection.updateOne(filter, removal(clock.now()))).modifiedCount > 0;
    },

    /** Whether a file was removed from a record of late. */
    async wasRemoved(resourceId: string, fileId: string): Promise<boolean> {
      return (await Files.exists({ _id: fileId, purpose, resourceId, state: 'removing' })) !== null;
    },

    /** Removes all files of permanently deleted records. Idempotent. */
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
        // keeps its slot among the unused ones until the record's write, because it may be given back
        const attach = (storedAs: string, until: Date) =>
          take(file, { storedAs, resourceId, attachedAt, place: null }, until, fence);
        return attachCopy(file, attach, file.storedAs);
      },
      dropCopy,
      removal,
    }),
  };
}
