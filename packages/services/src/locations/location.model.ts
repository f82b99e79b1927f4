import { listIndexes } from '@tandem/lists';
import { defineModel } from '@tandem/storage';
import { treeField, type TreeRecord } from '../shared/trees.js';
import { locationResource } from './locations.schemas.js';

export interface LocationRecord extends TreeRecord {
  name: string;
  code: string;
  type: string;
  /** The only stored edge of the tree. Ancestors are derived, so that a move is one write however large the subtree. */
  parentId: string | null;
}

export const locationModel = defineModel<LocationRecord>('locations', {
  fields: {
    name: { type: String, required: true },
    code: { type: String, default: '' },
    type: { type: String, required: true },
    parentId: { type: String, default: null },
    ...treeField,
  },
  // the index on `parentId` also serves queries for children
  indexes: listIndexes(locationResource),
});
