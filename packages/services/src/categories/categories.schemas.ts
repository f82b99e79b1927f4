import { z } from 'zod';
import { Id, Timestamp, pageOf, pageParameters } from '../shared/schemas.js';
import { CATEGORY_STATUSES } from './category.model.js';

/** Longest texts, in characters. */
const LINE = 200;
const TEXT = 5000;

const Name = z.string().trim().min(1).max(LINE);
const Text = z.string().max(TEXT);
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
export const CategoryPageSchema = z.compile(pageOf(CategorySchema));

export const categoryInput = z.strictObject({ categoryId: Id });
export const categoryListInput = z.compile(z.strictObject({ ...pageParameters }));
export const createCategoryInput = z.strictObject({
  name: Name,
  description: Text,
  status: Status.optional(),
  parent: Id.nullable().optional(),
});
export type NewCategory = z.infer<typeof createCategoryInput>;

/** The status changes by enable and disable alone. A null parent puts it at the top. */
export const categoryPatchInput = z.strictObject({
  categoryId: Id,
  name: Name.optional(),
  description: Text.optional(),
  parent: Id.nullable().optional(),
});
export type CategoryPatch = Omit<z.infer<typeof categoryPatchInput>, 'categoryId'>;
