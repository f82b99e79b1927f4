import { ListQueryError, ListTimeLimitError } from './errors.js';
import type { StoreFilter } from './filter.js';
import type { StoredDocument } from './show.js';
import type { Stage } from './transformation.js';

/** What is asked of a collection: the driver's own collections are such. */
export interface ListCollection {
  collectionName: string;
  find(filter: object, options?: object): { toArray(): Promise<object[]> };
  aggregate(pipeline: object[], options?: object): { toArray(): Promise<object[]> };
}

/** Which rows of those that match, in which order, without which fields. */
export interface PageOptions {
  sort?: Record<string, 1 | -1>;
  skip?: number;
  /** From 1. */
  limit?: number;
  /** Never empty: something is always hidden. */
  projection: Record<string, 0>;
}

export interface RowsAndTotal {
  rows: StoredDocument[];
  total: number;
}

/** A collection with the limits of one list query. What one query holds in the store's memory is bounded by the store: nothing goes to its disk. */
export interface LimitedStore {
  find(filter: StoreFilter, options: PageOptions): Promise<StoredDocument[]>;
  /** A page of what matches one filter and the number of all that match another: one command, where two would cost the driver twice. */
  findAndCount(filter: StoreFilter, options: Required<PageOptions>, counted: StoreFilter): Promise<RowsAndTotal>;
  count(filter: StoreFilter): Promise<number>;
  aggregate(pipeline: Stage[]): Promise<StoredDocument[]>;
}

/** The server's code for an operation that was stopped by its time limit. */
const OUT_OF_TIME = 50;
/** Its codes for one that needs more memory than one operation may have, or gives a document of more than 16 MB. */
const OUT_OF_MEMORY = new Set<unknown>([146, 292, 10_334, 17_419, 31_034, 5_739_900]);

/** How long a command may run, and for whom. */
export interface CommandLimits {
  maxTimeMs: number;
  /** Ends the command when it is aborted: the driver closes its connection, and the store ends what it did for that. */
  signal?: AbortSignal | undefined;
}

/** @param parameter the one that decides how much the store has to hold, to be named when it is too much */
export function limitStore(collection: ListCollection, { maxTimeMs, signal }: CommandLimits, parameter: string): LimitedStore {
  const limits = { maxTimeMS: maxTimeMs, allowDiskUse: false, ...(signal && { signal }) };
  const guard = <T>(result: Promise<T>): Promise<T> => result.catch((error: unknown) => rethrow(error, maxTimeMs, parameter));
  return {
    find: (filter, options) => guard(collection.find(filter, { ...options, ...limits }).toArray()) as Promise<StoredDocument[]>,
    async findAndCount(filter, options, counted) {
      const stages = pageAndTotal(collection.collectionName, filter, options, counted);
      const both = (await guard(collection.aggregate(stages, limits).toArray())) as StoredDocument[];
      // what has no `_id` is no record: the total, which is missing where nothing matches
      const total = both.find((row) => !('_id' in row)) as { total: number } | undefined;
      return { rows: total ? both.filter((row) => row !== total) : both, total: total?.total ?? 0 };
    },
    async count(filter) {
      const [counted] = await guard(collection.aggregate([{ $match: filter }, { $count: 'total' }], limits).toArray());
      return (counted as { total: number } | undefined)?.total ?? 0;
    },
    aggregate: (pipeline) => guard(collection.aggregate(pipeline, limits).toArray()) as Promise<StoredDocument[]>,
  };
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

/** @throws ListTimeLimitError, ListQueryError, or what it was */
function rethrow(error: unknown, maxTimeMs: number, parameter: string): never {
  const code = (error as { code?: unknown } | null)?.code;
  if (code === OUT_OF_TIME) throw new ListTimeLimitError(maxTimeMs, error);
  if (!OUT_OF_MEMORY.has(code)) throw error;
  const message = `query parameter '${parameter}' asks for more than one query may hold in memory`;
  throw new ListQueryError({ parameter, offset: 0, message });
}
