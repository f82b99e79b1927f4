import { defineModel, type Live } from '@tandem/storage';

export const CATEGORY_STATUSES = ['active', 'inactive'] as const;
export type CategoryStatus = (typeof CATEGORY_STATUSES)[number];

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
    status: { type: String, enum: CATEGORY_STATUSES, default: 'active' },
    parent: { type: String, default: null },
    moving: { type: { to: String, token: String, at: Date, _id: false }, default: null },
  },
  indexes: [
    { keys: { createdAt: -1, _id: -1 }, serves: 'the list, newest first, and its total' },
    { keys: { parent: 1, createdAt: -1, _id: -1 }, serves: 'the categories below one, newest first' },
  ],
});
