import { listIndexes } from '@tandem/lists';
import { defineModel } from '@tandem/storage';
import { treeField, type TreeRecord } from '../shared/trees.js';
import { categoryResource } from './categories.schemas.js';
import type { CategoryStatus } from './category-status.js';

export interface CategoryRecord extends TreeRecord {
  name: string;
  description: string;
  status: CategoryStatus;
  /** Id of the parent, which may be deleted by now; null at the top. */
  parent: string | null;
}

export const categoryModel = defineModel<CategoryRecord>('categories', {
  fields: {
    name: { type: String, required: true },
    description: { type: String, default: '' },
    status: { type: String, default: 'active' },
    parent: { type: String, default: null },
    ...treeField,
  },
  indexes: listIndexes(categoryResource),
});
