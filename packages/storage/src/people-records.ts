import { setTimeout as wait } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import type { ModelDefinition, BaseRecord } from './model.js';

/** Records that are written at once, and those that are looked through at once where no index helps. */
const BATCH = 100;
const LOOKED_THROUGH = 500;

export type StoredRecord = { _id: string } & Record<string, unknown>;
export type Records = mongo.Collection<StoredRecord>;

/** Work that leaves the store to others as long as it takes itself, and ends when it is told. */
export interface Pace {
  signal?: AbortSignal | undefined;
}

/** Rests as long as the work took. @throws the signal's reason */
async function rest(since: number, { signal }: Pace): Promise<void> {
  signal?.throwIfAborted();
  await wait(Math.max(1, performance.now() - since));
}

/** What tells whether an index helps. */
export type Indexed = Pick<ModelDefinition<BaseRecord>, 'collectionName' | 'softDelete' | 'indexes'>;

/** Whether an index leads to all records that match a filter by this path, deleted ones too. */
export function isIndexed({ softDelete, indexes }: Indexed, path: string, filter: object): boolean {
  return indexes.some(({ keys, where, deletedToo }) => {
    const isOfAll = !softDelete || deletedToo === true;
    return Object.keys(keys)[0] === path && isOfAll && Object.keys(where ?? {}).every((one) => one === path || one in filter);
  });
}

/** Ranges of ids that together are a whole collection. */
async function* rangesOf(records: Records, pace: Pace): AsyncGenerator<object> {
  let after: { $gt: string } | undefined;
  for (;;) {
    const since = performance.now();
    const from = after ? { _id: after } : {};
    const end = { sort: { _id: 1 }, skip: LOOKED_THROUGH - 1, projection: { _id: 1 } } as const;
    const last = await records.findOne(from, end);
    const range = { ...after, ...(last && { $lte: last._id }) };
    yield Object.keys(range).length > 0 ? { _id: range } : {};
    if (!last) return;
    after = { $gt: last._id };
    await rest(since, pace);
  }
}

/** What to look for, and by which path. */
export interface Asked {
  path: string;
  filter: object;
  fields?: Record<string, 0 | 1>;
}

/** The records that match, a few at a time. The consumer may change or remove them. */
export async function* batchesOf(
  records: Records,
  definition: Indexed,
  { path, filter, fields = { _id: 1 } }: Asked,
  pace: Pace,
): AsyncGenerator<StoredRecord[]> {
  const ranges = isIndexed(definition, path, filter) ? [{}] : rangesOf(records, pace);
  for await (const range of ranges) {
    const cursor = records.find({ $and: [range, filter] } as object, { projection: fields, batchSize: BATCH });
    let batch: StoredRecord[] = [];
    let since = performance.now();
    for await (const record of cursor) {
      batch.push(record);
      if (batch.length < BATCH) continue;
      yield batch;
      await rest(since, pace);
      batch = [];
      since = performance.now();
    }
    if (batch.length > 0) yield batch;
  }
}

/** Looks through a whole collection. */
export async function eachRange(records: Records, pace: Pace, look: (range: object) => Promise<void>): Promise<void> {
  for await (const range of rangesOf(records, pace)) await look(range);
}
