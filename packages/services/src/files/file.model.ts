import { defineModel, queuedFields, type QueuedRecord } from '@tandem/storage';

/**
 * An object, from the issue of its upload address until its removal from storage, for which it is queued; if attached, its original and leftover copies are. It refers to its record, while records keep no
 * list of files, so that one write attaches it.
 */
export interface FileRecord extends QueuedRecord {
  /** The random storage key of the upload. Only the uploader ever sees it. */
  objectId: string;
  /** The storage key of the attached copy, which has no upload address. Null before that, and for files of older versions. */
  storedAs: string | null;
  /**
   * Keys of all copies that may exist. Each is stored before the copy is made, so that none outlives the file. Missing in files
   * of older versions.
   */
  copies?: string[];
  /** What it may be attached as, such as `product-image` or `avatar`. */
  purpose: string;
  /** The identity that asked for the address. Only it may attach the object. */
  issuedTo: string;
  type: string;
  /** In bytes. */
  size: number;
  /** Its slot among the identity's unused addresses, from 0; null once it is attached for good. */
  slot: number | null;
  /** The upload in progress, and until when it excludes others if its process dies. */
  uploader: string | null;
  uploadingUntil: Date | null;
  state: 'issued' | 'attached' | 'removing';
  /** The record that it is attached to; null before that. */
  resourceId: string | null;
  attachedAt: Date | null;
  /** Its place among the record's files, from 0; null if the record has only one file. */
  place: number | null;
  /** For a record's only file: true once the record's own write was made, after which this file replaces all earlier ones. */
  counts: boolean;
}

export const fileModel = defineModel<FileRecord>('files', {
  softDelete: false,
  // see `files-erasure.ts`
  people: { issuedTo: { erased: 'own', exported: ['purpose', 'type', 'size', 'resourceId', 'attachedAt', 'createdAt'] } },
  fields: {
    objectId: { type: String, required: true },
    purpose: { type: String, required: true },
    issuedTo: { type: String, required: true },
    type: { type: String, required: true },
    size: { type: Number, required: true },
    storedAs: { type: String, default: null },
    copies: { type: [String], default: [] },
    slot: { type: Number, default: null },
    uploader: { type: String, default: null },
    uploadingUntil: { type: Date, default: null },
    state: { type: String, required: true },
    resourceId: { type: String, default: null },
    attachedAt: { type: Date, default: null },
    place: { type: Number, default: null },
    counts: { type: Boolean, default: false },
    ...queuedFields,
  },
  indexes: [
    { keys: { objectId: 1 }, unique: true, serves: 'attaching an object' },
    {
      keys: { purpose: 1, resourceId: 1, attachedAt: 1, _id: 1 },
      where: { state: 'attached' },
      serves: 'the files of a page of records, oldest first',
    },
    {
      keys: { purpose: 1, resourceId: 1, place: 1 },
      unique: true,
      where: { state: 'attached', place: { $gte: 0 } },
      serves: 'that a record never has too many files: each has a place of its own',
    },
    {
      keys: { issuedTo: 1, slot: 1 },
      unique: true,
      where: { slot: { $gte: 0 } },
      serves: 'that nobody has too many unused addresses: each has a place of its own',
    },
    {
      keys: { issuedTo: 1, state: 1, size: 1, _id: 1 },
      where: { state: 'attached' },
      serves: 'how many bytes somebody has attached, from the index alone',
    },
    { keys: { issuedTo: 1, _id: 1 }, serves: 'the files of a person who is erased' },
    { keys: { dueAt: 1, _id: 1 }, where: { dueAt: { $type: 'date' } }, serves: 'the next file to be removed' },
  ],
});
