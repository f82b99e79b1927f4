import { defineModel, type BaseRecord, type Live } from '@tandem/storage';
import { listIndexes } from '../shared/list-indexes.js';
import { locationResource } from './locations.schemas.js';

export interface LocationRecord extends Live {
  name: string;
  code: string;
  type: string;
  /** The only edge that is stored: ancestors follow from it, so that a move is one write, whatever lies below. */
  parentId: string | null;
  /** The change of the tree that wrote it last; a host may have left it out. */
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
  // that by `parentId` is also asked for what lies below a location
  indexes: listIndexes(locationResource),
});

/** A change of the tree that has been decided and not yet, or not certainly, been written. */
export type TreeChange =
  | { kind: 'insert'; record: Omit<LocationRecord, 'treeVersion'> }
  | { kind: 'update'; locationId: string; set: Partial<LocationRecord> };

/** The one record through which all changes of the tree go, one after another. */
export interface LocationTreeRecord extends BaseRecord {
  version: number;
  pending: TreeChange | null;
}

export const locationTreeModel = defineModel<LocationTreeRecord>('locationTree', {
  softDelete: false,
  fields: { version: { type: Number, required: true }, pending: { type: Object, default: null } },
  indexes: [],
});
