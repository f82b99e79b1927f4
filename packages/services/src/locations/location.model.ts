import { defineModel, type BaseRecord, type Live } from '@tandem/storage';
import { listIndexes } from '../shared/list-indexes.js';
import { locationResource } from './locations.schemas.js';

export interface LocationRecord extends Live {
  name: string;
  code: string;
  type: string;
  /** The only stored edge of the tree. Ancestors are derived, so that a move is one write however large the subtree. */
  parentId: string | null;
  /** The version of the tree change that last wrote the record. A host may have left it out. */
  treeVersion?: number;
}

export const locationModel = defineModel<LocationRecord>('locations', {
  fields: {
    name: { type: String, required: true },
    code: { type: String, default: '' },
    type: { type: String, required: true },
    parentId: { type: String, default: null },
    treeVersion: { type: Number, default: 0 },
  },
  // the index on `parentId` also serves queries for children
  indexes: listIndexes(locationResource),
});

/** A change that is decided but may not be written yet. */
export type TreeChange =
  | { kind: 'insert'; record: Omit<LocationRecord, 'treeVersion'> }
  | { kind: 'update'; locationId: string; set: Partial<LocationRecord> };

/** The record that serializes all changes of the tree. */
export interface LocationTreeRecord extends BaseRecord {
  version: number;
  pending: TreeChange | null;
}

export const locationTreeModel = defineModel<LocationTreeRecord>('locationTree', {
  softDelete: false,
  fields: { version: { type: Number, required: true }, pending: { type: Object, default: null } },
  indexes: [],
});
