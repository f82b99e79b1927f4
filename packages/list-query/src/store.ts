import { ListQueryError, ListTimeLimitError } from './errors.js';
import type { StoreFilter } from './filter.js';
import type { StoredDocument } from './show.js';
import type { Stage } from './transformation.js';

/** The collection methods that are used; the driver's collections have them. */
export interface ListCollection {
  collectionName: string;
  find(filter: object, options?: object): { toArray(): Promise<object[]> };
  aggregate(pipeline: object[], options?: object): { toArray(): Promise<object[]> };
}

/** The rows to return of those that match: order, number, hidden fields. */
export interface PageOptions {
  sort?: Record<string, 1 | -1>;
  skip?: number;
  /** From 1. */
  limit?: number;
  /** Never empty: something is always hidden. */
  projection: Record<string, 0 | 1>;
}

export interface RowsAndTotal {
  rows: StoredDocument[];
  total: number;
}

/** A collection with the limits of one list query. The store bounds the memory of a query: nothing spills to disk. */
export interface LimitedStore {
  find(filter: StoreFilter, options: PageOptions): Promise<StoredDocument[]>;
  /**
   * A page matching one filter, and the number of rows matching another: one command, because two would cost the driver
   * twice.
   */
  findAndCount(filter: StoreFilter, options: Required<PageOptions>, counted: StoreFilter): Promise<RowsAndTotal>;
  count(filter: StoreFilter): Promise<number>;
  aggregate(pipeline: Stage[]): Promise<StoredDocument[]>;
}

/** The server's code for an operation stopped by its time limit. */
const OUT_OF_TIME = 50;
/** The server's codes for exceeding an operation's memory, or a document of more than 16 MB. */
const OUT_OF_MEMORY = new Set<unknown>([146, 292, 10_334, 17_419, 31_034, 5_739_900]);

/** How long a command may run, and how to cancel it. */
export interface CommandLimits {
  maxTimeMs: number;
  /** Cancels the command: the driver closes its connection, and the store then ends its work. */
  signal?: AbortSignal | undefined;
}

/** @param parameter named in the error when the store would have to hold too much: the one that decides how much */
export function limitStore(collection: ListCollection, { maxTimeMs, signal }: CommandLimits, parameter: string): LimitedStore {
  const limits = { maxTimeMS: maxTimeMs, allowDiskUse: false, ...(signal && { signal }) };
  const guard = <T>(result: Promise<T>): Promise<T> => result.catch((error: unknown) => rethrow(error, maxTimeMs, parameter));
  return {
    find: (filter, options) => guard(collection.find(filter, { ...options, ...limits }).toArray()) as Promise<StoredDocument[]>,
    async findAndCount(filter, options, counted) {
      const stages = pageAndTotal(collection.collectionName, filter, options, counted);
      return withTotal((await guard(collection.aggregate(stages, limits).toArray())) as StoredDocument[]);
    },
    async count(filter) {
      const [counted] = await guard(collection.aggregate([{ $match: filter }, { $count: 'total' }], limits).toArray());
      return (counted as { total: number } | undefined)?.total ?? 0;
    },
    aggregate: (pipeline) => guard(collection.aggregate(pipeline, limits).toArray()) as Promise<StoredDocument[]>,
  };
}

/** Rows among which one without `_id` is the total, which is missing where nothing matches. */
export function withTotal(both: StoredDocument[]): RowsAndTotal {
  const total = both.find((row) => !('_id' in row)) as { total: number } | undefined;
  return { rows: total ? both.filter((row) => row !== total) : both, total: total?.total ?? 0 };
}

function pageAndTotal(
  name: string,
  filter: StoreFilter,
  { sort, skip, limit, projection }: Required<PageOptions>,
  counted: StoreFilter,
): object[] {
  return [
    { $match: filter },
    { $sort: sort },
    { $skip: skip },
    { $limit: limit },
    { $project: projection },
    { $unionWith: { coll: name, pipeline: [{ $match: counted }, { $count: 'total' }] } },
  ];
}

/** @throws ListTimeLimitError, ListQueryError, or the error itself */
function rethrow(error: unknown, maxTimeMs: number, parameter: string): never {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === OUT_OF_TIME) throw new ListTimeLimitError(maxTimeMs, error);
  if (!OUT_OF_MEMORY.has(code)) throw error;
  const message = `query parameter '${parameter}' asks for more than one query may hold in memory`;
  throw new ListQueryError({ parameter, offset: 0, message });
}
