import { defineModel, type BaseRecord } from '@tandem/storage';

/**
 * An object from the moment its upload address is issued until it is removed from the storage. It is what it belongs to, too: records keep no
 * list of their files, so that one write attaches one.
 */
export interface FileRecord extends BaseRecord {
  /** Its name in the storage. Random, and shown to nobody but who uploads it. */
  objectId: string;
  /** What it may be attached as: `product-image`, `avatar` … */
  purpose: string;
  /** The identity that asked for the address, and alone may attach it. */
  issuedTo: string;
  type: string;
  /** In bytes. */
  size: number;
  state: 'issued' | 'attached' | 'removing';
  /** The record that it is attached to; null until then. */
  resourceId: string | null;
  attachedAt: Date | null;
  /** Which of the places for files of its record it has, from 0; null where a record has one file. */
  place: number | null;
  /** Of a record with one file: the write that it came with has been made, so that it takes the place of every earlier one. */
  counts: boolean;
  /** When it is to be removed from the storage, if it is; while somebody tries, until when nobody else does. */
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
    { keys: { issuedTo: 1 }, where: { state: 'issued' }, serves: 'how many addresses somebody has not used' },
    { keys: { dueAt: 1, _id: 1 }, where: { dueAt: { $type: 'date' } }, serves: 'the next file to be removed' },
  ],
});
