import { randomUUID } from 'node:crypto';
import type { Model, Storage } from '@tandem/storage';
import type { FileRecord } from './file.model.js';
import { fileAddressErrors, fileErrors } from './files.errors.js';

/** For how long an upload has its object to itself if its process dies, in milliseconds: no body may take longer to arrive. */
const UPLOAD_MS = 120_000;

/** The condition that nobody is uploading an object. */
export const notUploading = (now: Date) => ({ $or: [{ uploadingUntil: null }, { uploadingUntil: { $lte: now } }] });

/** One upload of an object: no other one begins, and nobody attaches the object, before it ends. */
export interface Upload {
  /** Asked when the body has arrived. @throws as `begin`, where the upload took so long that it has lost the object */
  mayStore(): Promise<void>;
  /** Never fails: where the store is away at that moment, the object is free again after two minutes. */
  end(): Promise<void>;
}

export type Uploads = ReturnType<typeof createUploads>;

/** Who may put a file where: for storages whose upload addresses the server itself answers (decision H16). */
export function createUploads({ clock }: Storage, { collection }: Model<FileRecord>) {
  async function refusalOf(objectId: string) {
    const found = (await collection.findOne({ objectId }, { projection: { state: 1 } })) as unknown as FileRecord | null;
    if (found?.state === 'attached') return fileAddressErrors.alreadyAttached();
    return found?.state === 'issued' ? fileErrors.beingUploaded() : fileAddressErrors.notFound();
  }

  return {
    /** @throws fileErrors.beingUploaded; fileAddressErrors.alreadyAttached, and notFound where the object is none, or about to go */
    async begin(objectId: string): Promise<Upload> {
      const uploader = randomUUID();
      const take = async (condition: object) => {
        const now = clock.now();
        const lease = { uploader, uploadingUntil: new Date(now.getTime() + UPLOAD_MS) };
        const filter = { objectId, state: 'issued', ...condition } as object;
        if ((await collection.updateOne(filter, { $set: lease })).matchedCount === 0) throw await refusalOf(objectId);
      };
      await take(notUploading(clock.now()));
      return {
        mayStore: () => take({ uploader }),
        async end() {
          const none = { uploader: null, uploadingUntil: null };
          await collection.updateOne({ objectId, uploader }, { $set: none }).catch(() => {});
        },
      };
    },
  };
}
