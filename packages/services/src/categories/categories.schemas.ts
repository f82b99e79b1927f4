import { defineListResource } from '@tandem/list-query';
import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { Id, Name, Text, Timestamp } from '../shared/schemas.js';
import { CATEGORY_STATUSES } from './category-status.js';

const Status = z.enum(CATEGORY_STATUSES);

export const CategorySchema = z
  .object({
    id: Id,
    name: z.string(),
    description: z.string(),
    status: z.string(),
    parent: z.string().nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Category' });
export type Category = z.infer<typeof CategorySchema>;

export const categoryResource = defineListResource({
  name: 'categories',
  fields: { name: 'string', description: 'string', status: 'string', parent: 'string', createdAt: 'date', updatedAt: 'date' },
  hidden: ['treeVersion'],
  defaultOrder: 'createdAt desc, id desc',
});
export const categoryList = defineList(categoryResource, {
  row: CategorySchema,
  equal: { name: Name, description: Text, parent: Id, status: Status },
});

export const categoryInput = z.strictObject({ categoryId: Id });
export const createCategoryInput = z.strictObject({
  name: Name,
  description: Text,
  status: Status.optional(),
  parent: Id.nullable().optional(),
});
export type NewCategory = z.infer<typeof createCategoryInput>;

/** Only enable and disable change the status. A null parent moves the category to the top. */
export const categoryPatchInput = z.strictObject({
  categoryId: Id,
  name: Name.optional(),
  description: Text.optional(),
  parent: Id.nullable().optional(),
});
export type CategoryPatch = Omit<z.infer<typeof categoryPatchInput>, 'categoryId'>;
