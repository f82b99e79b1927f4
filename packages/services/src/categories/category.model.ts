import { listIndexes } from '@tandem/lists';
import { defineModel } from '@tandem/storage';
import type { TreeRecord } from '../shared/trees.js';
import type { StoredFields } from '../shared/record.js';
import { categoryRecord } from './categories.schemas.js';
import type { CategoryStatus } from './category-status.js';

export interface CategoryRecord extends TreeRecord, StoredFields<typeof categoryRecord> {
  status: CategoryStatus;
}

export const categoryModel = defineModel<CategoryRecord>('categories', {
  traced: { kind: 'category' },
  fields: categoryRecord.stored,
  searched: categoryRecord.resource.searched,
  indexes: listIndexes(categoryRecord.resource),
});
