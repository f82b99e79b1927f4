import { z } from 'zod';

/** The query parameters of every paginated list (spec, "Paginated list endpoints"). */
export const pageParameters = {
  page: z.number().int().min(1).max(1000).describe('The page, from 1.').optional(),
  limit: z.number().int().min(1).max(50).describe('Maximum number of rows of a page, by default 10.').optional(),
};

const PageMetadata = z
  .object({
    pagination: z.object({
      page: z.number().int(),
      limit: z.number().int(),
      total: z.number().int(),
      totalPages: z.number().int(),
      hasNext: z.boolean(),
      hasPrev: z.boolean(),
    }),
  })
  .meta({ id: 'PageMetadata' });

/** The answer of a paginated list. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), metadata: PageMetadata });
}

/** The closed pagination metadata of the spec, exported for hosts; no endpoint here answers it (decisions L1). */
export const PaginationMetadata = z.strictObject({
  page: z.number().min(1),
  limit: z.number().min(1),
  total: z.number().min(0),
  total_pages: z.number().min(0),
});
