import type { BaseRecord, Model } from '@tandem/storage';

/** Defaults of decisions L1. */
const DEFAULT_PAGE = 1;
const DEFAULT_LIMIT = 10;

export interface PageQuery {
  page?: number | undefined;
  limit?: number | undefined;
}

/** A page of records as they leave the server, with the facts of decisions L1. */
export interface Page<Shown> {
  data: Shown[];
  metadata: {
    pagination: { page: number; limit: number; total: number; totalPages: number; hasNext: boolean; hasPrev: boolean };
  };
}

/** What a list is of: which live records, in which order, without which of their fields, and how each is shown. */
export interface PageSource<R, Shown> {
  /** Values of the right type: nothing converts them. */
  filter: Record<string, unknown>;
  sort: Record<string, 1 | -1>;
  /** Fields that are not read. */
  without?: readonly string[];
  /** Of an array in each record, the one element that is read: `{ members: { $elemMatch: … } }`. */
  element?: Record<string, { $elemMatch: object }>;
  show(record: R): Shown;
}

/** Newest first, the default order of the services' lists (decisions L2). */
export const NEWEST_FIRST = { createdAt: -1, _id: -1 } as const;

/**
 * One page and the exact total, in two queries at once, whatever the page holds. By the driver and not by Mongoose, which has nothing to
 * add to a read without casts and costs a tenth of it; the limits and retries of the storage hold for it too.
 */
export async function findPage<R extends BaseRecord, Shown>(
  { collection }: Model<R>,
  { filter, sort, without = [], element = {}, show }: PageSource<R, Shown>,
  { page = DEFAULT_PAGE, limit = DEFAULT_LIMIT }: PageQuery,
): Promise<Page<Shown>> {
  const live = { ...filter, deletedAt: null } as object;
  const projection = { ...Object.fromEntries(without.map((field) => [field, 0])), ...element };
  const [records, total] = await Promise.all([
    collection.find(live, { sort, skip: (page - 1) * limit, limit, projection }).toArray(),
    collection.countDocuments(live),
  ]);
  const totalPages = Math.max(1, Math.ceil(total / limit));
  const pagination = { page, limit, total, totalPages, hasNext: page < totalPages, hasPrev: page > 1 };
  return { data: records.map((record) => show(record as unknown as R)), metadata: { pagination } };
}
