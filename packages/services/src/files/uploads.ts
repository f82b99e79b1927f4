import { randomUUID } from 'node:crypto';
import type { Model, Storage } from '@tandem/storage';
import type { FileRecord } from './file.model.js';
import { fileAddressErrors, fileErrors } from './files.errors.js';

/** How long an upload excludes others if its process dies, in milliseconds. No upload may take longer. */
const UPLOAD_MS = 120_000;

/** Condition: no upload is in progress. */
export const notUploading = (now: Date) => ({ $or: [{ uploadingUntil: null }, { uploadingUntil: { $lte: now } }] });

/** An upload in progress. Until it ends, no other upload begins and the object cannot be attached. */
export interface Upload {
  /** Called when the body has arrived. @throws like `begin`, if the upload took so long that it lost the object */
  mayStore(): Promise<void>;
  /** Never throws. If the database cannot be reached, the object is free again after two minutes. */
  end(): Promise<void>;
}

export type Uploads = ReturnType<typeof createUploads>;

/** Makes uploads exclusive, for storages whose upload addresses this server serves (decisions H16). */
export function createUploads({ clock }: Storage, { collection }: Model<FileRecord>) {
  async function refusalOf(objectId: string) {
    const found = (await collection.findOne({ objectId }, { projection: { state: 1 } })) as unknown as FileRecord | null;
    if (found?.state === 'attached') return fileAddressErrors.alreadyAttached();
    return found?.state === 'issued' ? fileErrors.beingUploaded() : fileAddressErrors.notFound();
  }

  return {
    /**
     * @throws fileErrors.beingUploaded; fileAddressErrors.alreadyAttached; fileAddressErrors.notFound for an object that is
     * missing or about to be removed
     */
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
