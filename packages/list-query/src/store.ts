import { ListQueryError, ListTimeLimitError } from './errors.js';
import type { StoreFilter } from './filter.js';
import type { StoredDocument } from './show.js';
import type { Stage } from './transformation.js';

/** What is asked of a collection: the driver's own collections are such. */
export interface ListCollection {
  find(filter: object, options?: object): { toArray(): Promise<object[]> };
  aggregate(pipeline: object[], options?: object): { toArray(): Promise<object[]> };
  countDocuments(filter: object, options?: object): Promise<number>;
}

/** A collection with the limits of one list query. What one query holds in the store's memory is bounded by the store: nothing goes to its disk. */
export interface LimitedStore {
  find(filter: StoreFilter, options: object): Promise<StoredDocument[]>;
  aggregate(pipeline: Stage[]): Promise<StoredDocument[]>;
  count(filter: StoreFilter): Promise<number>;
}

/** The server's code for an operation that was stopped by its time limit. */
const OUT_OF_TIME = 50;
/** Its codes for one that needs more memory than one operation may have, or gives a document of more than 16 MB. */
const OUT_OF_MEMORY = new Set<unknown>([146, 292, 10_334, 17_419, 31_034, 5_739_900]);

/** @param parameters those that decide how much the store has to hold, to be named when it is too much */
export function limitStore(collection: ListCollection, maxTimeMs: number, parameter: string): LimitedStore {
  const limits = { maxTimeMS: maxTimeMs, allowDiskUse: false };
  const guard = <T>(result: Promise<T>): Promise<T> => result.catch((error: unknown) => rethrow(error, maxTimeMs, parameter));
  return {
    find: (filter, options) => guard(collection.find(filter, { ...options, ...limits }).toArray()) as Promise<StoredDocument[]>,
    aggregate: (pipeline) => guard(collection.aggregate(pipeline, limits).toArray()) as Promise<StoredDocument[]>,
    count: (filter) => guard(collection.countDocuments(filter, { maxTimeMS: maxTimeMs })),
  };
}

/** @throws ListTimeLimitError, ListQueryError, or what it was */
function rethrow(error: unknown, maxTimeMs: number, parameter: string): never {
  const code: unknown = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === OUT_OF_TIME) throw new ListTimeLimitError(maxTimeMs, error);
  if (!OUT_OF_MEMORY.has(code)) throw error;
  const message = `query parameter '${parameter}' asks for more than one query may hold in memory`;
  throw new ListQueryError({ parameter, offset: 0, message });
}
