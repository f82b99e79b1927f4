import type { Collection } from 'mongoose';

export type Plain = Record<string, unknown>;
type Arguments = unknown[];

/** The methods that write, with the place of what they write. */
export const WRITES = {
  insertOne: 0,
  insertMany: 0,
  replaceOne: 1,
  findOneAndReplace: 1,
  updateOne: 1,
  updateMany: 1,
  findOneAndUpdate: 1,
  bulkWrite: 0,
} as const;
/** The methods that read, with the place of their options. */
const READS = { find: 1, findOne: 1, findOneAndUpdate: 2, findOneAndReplace: 2, findOneAndDelete: 1 } as const;
type Read = keyof typeof READS;

/** Replaces a method of a collection, whatever calls it: Mongoose, or the driver's interface. */
export function replaceMethod(
  collection: Collection,
  name: string,
  by: (run: (...args: Arguments) => unknown, args: Arguments) => unknown,
): void {
  const operation: unknown = Reflect.get(collection, name);
  if (typeof operation !== 'function') throw new Error(`The driver has no operation ${name}`);
  const run = (...args: Arguments): unknown => Reflect.apply(operation, collection, args);
  Reflect.set(collection, name, (...args: Arguments): unknown => by(run, args));
}

/** How what is written is completed: inserted documents, updates. */
interface Completions {
  document(document: object): object;
  /** By operators, or a pipeline. */
  update(update: object): object;
}

/**
 * Completes what all writes of a collection write, and hides fields from its reads.
 * @param hiddenIn the fields that a kind of reads hides
 */
export function completeWrites(
  collection: Collection,
  hiddenIn: (read: Read) => readonly string[],
  completions: Completions,
): void {
  for (const [name, at] of Object.entries(WRITES))
    replaceMethod(collection, name, (run, args) => {
      args[at] = completed(name, args[at], completions);
      return run(...args);
    });
  for (const [name, at] of Object.entries(READS)) {
    const hidden = Object.fromEntries(hiddenIn(name as Read).map((field) => [field, 0]));
    replaceMethod(collection, name, (run, args) => {
      args[at] = hiding(hidden, args[at] as Plain | undefined);
      return run(...args);
    });
  }
}

function completed(name: string, written: unknown, completions: Completions): unknown {
  if (name === 'insertMany') return (written as object[]).map(completions.document);
  if (name === 'bulkWrite') return (written as Plain[]).map((operation) => inOperation(operation, completions));
  return name.includes('pdate') ? completions.update(written as object) : completions.document(written as object);
}

/** `{ updateOne: { filter, update } }`, `{ insertOne: { document } }`, `{ replaceOne: { filter, replacement } }`. */
function inOperation(operation: Plain, { document, update }: Completions): Plain {
  const [name, body] = Object.entries(operation)[0] as [string, { document?: object; replacement?: object; update?: object }];
  return {
    [name]: {
      ...body,
      ...(body.document && { document: document(body.document) }),
      ...(body.replacement && { replacement: document(body.replacement) }),
      ...(body.update && { update: update(body.update) }),
    },
  };
}

function hiding(hidden: Plain, options: Plain | undefined): Plain {
  const projection = (options?.['projection'] ?? {}) as Plain;
  const names = Object.entries(projection).filter(([name]) => name !== '_id');
  const isExclusion = names.every(([, shown]) => shown === 0 || shown === false);
  // `{ _id: 1 }` alone names all that is wanted
  const isOnlyId = names.length === 0 && (projection['_id'] === 1 || projection['_id'] === true);
  return isExclusion && !isOnlyId ? { ...options, projection: { ...projection, ...hidden } } : { ...options };
}
