import { defineList, relatedKind, relatedOne } from '@tandem/lists';
import { z } from 'zod';
import { metadataField } from '../shared/metadata.js';
import { defineRecord, field } from '../shared/record.js';
import { Id, Name, Text } from '../shared/schemas.js';
import { treeField } from '../shared/trees.js';
import { CATEGORY_STATUSES } from './category-status.js';

const Status = z.enum(CATEGORY_STATUSES);

export const categoryRecord = defineRecord('categories', {
  fields: {
    name: field(Name.describe('The name of the category.'), { list: 'string' }),
    description: field(Text.describe('What belongs into the category.'), { list: 'string' }),
    /** Only enable and disable change it. */
    status: field(Status.describe('Whether the category is in use.'), {
      optional: true,
      fixed: true,
      shown: z.string(),
      stored: { type: String, default: 'active' },
      list: 'string',
    }),
    /** The parent, which may be deleted by now; null at the top. */
    parent: field(Id.nullable().describe('The category above; null at the top.'), { list: 'string' }),
    metadata: metadataField,
  },
  searched: ['name', 'description'],
  internal: treeField,
});
export const CategorySchema = categoryRecord.schema.meta({ id: 'Category' });
export interface Category extends z.infer<typeof CategorySchema> {}

export const categoryKind = relatedKind<Category>('category', CategorySchema, { resource: categoryRecord.resource });

export const categoryList = defineList(categoryRecord.resource, {
  row: CategorySchema,
  relations: { parentCategory: relatedOne(categoryKind, 'parent') },
  equal: { name: Name, description: Text, parent: Id, status: Status },
});

export const categoryInput = z.strictObject({ categoryId: Id });
export const createCategoryInput = z.strictObject(categoryRecord.given);
export type NewCategory = z.infer<typeof createCategoryInput>;

export const categoryPatchInput = z.strictObject({ categoryId: Id, ...categoryRecord.patch });
export type CategoryPatch = Omit<z.infer<typeof categoryPatchInput>, 'categoryId'>;
