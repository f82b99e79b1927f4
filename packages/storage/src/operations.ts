import type { Collection } from 'mongoose';
import { replaceMethod } from './collection-wraps.js';
import { retryRead } from './read-retries.js';

/** Position of the options argument of each collection operation. */
const optionsAt: Record<string, number> = {
  find: 1,
  findOne: 1,
  countDocuments: 1,
  estimatedDocumentCount: 0,
  distinct: 2,
  aggregate: 1,
  insertOne: 1,
  insertMany: 1,
  bulkWrite: 1,
  updateOne: 2,
  updateMany: 2,
  replaceOne: 2,
  deleteOne: 1,
  deleteMany: 1,
  findOneAndUpdate: 2,
  findOneAndReplace: 2,
  findOneAndDelete: 1,
};

/** Reads that return a promise. */
const reads = new Set(['findOne', 'countDocuments', 'estimatedDocumentCount', 'distinct']);
/** Reads that return a cursor. */
const openings = new Set(['find', 'aggregate']);

/** Called when an operation has ended: its name, duration in milliseconds (retries included), and whether it failed. */
export type OperationListener = (operation: string, milliseconds: number, hasFailed: boolean) => void;

interface Cursor {
  toArray(): Promise<unknown[]>;
}

/** Runs operations by name, and tells the listeners, after `ended`, when each has ended. */
export function timeOperations(listeners: readonly OperationListener[]) {
  return async function timed<Answer>(name: string, run: () => Promise<Answer>, ended?: () => void): Promise<Answer> {
    const start = performance.now();
    let hasFailed = true;
    try {
      const answer = await run();
      hasFailed = false;
      return answer;
    } finally {
      ended?.();
      for (const listener of listeners) listener(name, performance.now() - start, hasFailed);
    }
  };
}

/**
 * Wraps every operation of a model: sets a time limit in the store (Mongoose's own setting skips writes and cursors),
 * and retries reads whose connection broke, except cursors that are read row by row.
 * @param onWrite called when a write has ended, successfully or not
 * @param listeners called for every operation except cursors that are read row by row
 */
export function guardOperations(
  collection: Collection,
  maxTimeMS: number,
  { onWrite, listeners }: { onWrite: () => void; listeners: readonly OperationListener[] },
): void {
  const timed = timeOperations(listeners);
  for (const [name, position] of Object.entries(optionsAt))
    replaceMethod(collection, name, (operate, args) => {
      args[position] = { maxTimeMS, ...(args[position] as object | undefined) };
      const run = () => operate(...args);
      if (reads.has(name))
        return timed(name, () =>
          (run() as Promise<unknown>).catch((error: unknown) => retryRead(error, run as () => Promise<unknown>)),
        );
      if (!openings.has(name)) return timed(name, run as () => Promise<unknown>, onWrite);
      return endsInWrite(args[0]) ? run() : openCursor(run as () => Cursor, (read) => timed(name, read));
    });
}

function openCursor(open: () => Cursor, timed: (read: () => Promise<unknown[]>) => Promise<unknown[]>): Cursor {
  const cursor = open();
  const toArray = cursor.toArray.bind(cursor);
  cursor.toArray = () => timed(() => toArray().catch((error: unknown) => retryRead(error, () => open().toArray())));
  return cursor;
}

function endsInWrite(pipeline: unknown): boolean {
  const last: unknown = Array.isArray(pipeline) ? pipeline.at(-1) : undefined;
  return typeof last === 'object' && last !== null && ('$out' in last || '$merge' in last);
}
