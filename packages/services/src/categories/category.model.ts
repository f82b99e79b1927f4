import { defineModel, type Live } from '@tandem/storage';
import { listIndexes } from '../shared/list-indexes.js';
import { categoryResource } from './categories.schemas.js';
import type { CategoryStatus } from './category-status.js';

/** A move that is announced and not yet made: see `category-tree.ts`. */
export interface AnnouncedMove {
  to: string;
  token: string;
  at: Date;
}

export interface CategoryRecord extends Live {
  name: string;
  description: string;
  status: CategoryStatus;
  /** Id of the category above; null at the top. It may have been deleted since. */
  parent: string | null;
  moving: AnnouncedMove | null;
}

export const categoryModel = defineModel<CategoryRecord>('categories', {
  fields: {
    name: { type: String, required: true },
    description: { type: String, default: '' },
    status: { type: String, default: 'active' },
    parent: { type: String, default: null },
    moving: { type: { to: String, token: String, at: Date, _id: false }, default: null },
  },
  indexes: listIndexes(categoryResource),
});
