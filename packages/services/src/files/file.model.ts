import { defineModel, type BaseRecord } from '@tandem/storage';

/**
 * An object from the moment its upload address is issued until it is removed from the storage. It is what it belongs to, too: records keep no
 * list of their files, so that one write attaches one.
 */
export interface FileRecord extends BaseRecord {
  /** Its name, where it is uploaded to in the storage. Random, and shown to nobody but who uploads it. */
  objectId: string;
  /** Where it is in the storage once it is attached: a copy, which nobody has an address to change. Null until then, and of older files. */
  storedAs: string | null;
  /** All copies of it that there may be in the storage: each is noted before it is made, so that none outlives the file. Older files have no list. */
  copies?: string[];
  /** What it may be attached as: `product-image`, `avatar` … */
  purpose: string;
  /** The identity that asked for the address, and alone may attach it. */
  issuedTo: string;
  type: string;
  /** In bytes. */
  size: number;
  /** Which of the places for unused addresses of the identity it has, from 0; null once it is used for good. */
  slot: number | null;
  /** The upload that is under way, and until when it keeps others off if its process dies. */
  uploader: string | null;
  uploadingUntil: Date | null;
  state: 'issued' | 'attached' | 'removing';
  /** The record that it is attached to; null until then. */
  resourceId: string | null;
  attachedAt: Date | null;
  /** Which of the places for files of its record it has, from 0; null where a record has one file. */
  place: number | null;
  /** Of a record with one file: the write that it came with has been made, so that it takes the place of every earlier one. */
  counts: boolean;
  /**
   * When it is to be removed from the storage, if it is, or what it was uploaded as and other copies, where it is attached; while somebody tries,
   * until when nobody else does.
   */
  dueAt: Date | null;
  /** Tries to remove it so far, the one under way included. */
  attempts: number;
  /** Who tries, or did last. */
  owner: string | null;
}

export const fileModel = defineModel<FileRecord>('files', {
  softDelete: false,
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
    dueAt: { type: Date, default: null },
    attempts: { type: Number, default: 0 },
    owner: { type: String, default: null },
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
    { keys: { dueAt: 1, _id: 1 }, where: { dueAt: { $type: 'date' } }, serves: 'the next file to be removed' },
  ],
});
