import { randomInt } from 'node:crypto';
import { isDuplicateKey, type BaseRecord, type Model } from '@tandem/storage';

/** Any number below `count` that is not taken, so that concurrent calls rarely pick the same; undefined if none is free. */
export function anyFree(taken: ReadonlySet<unknown>, count: number): number | undefined {
  const free = Array.from({ length: count }, (_, number) => number).filter((number) => !taken.has(number));
  return free[randomInt(Math.max(free.length, 1))];
}

/** A random number below `count` that no record matching `filter` has in this field; undefined if none is free. */
export async function freeNumber<R extends BaseRecord>(
  { collection }: Model<R>,
  name: keyof R & string,
  count: number,
  filter: object,
): Promise<number | undefined> {
  const found = await collection.find(filter, { projection: { _id: 0, [name]: 1 } }).toArray();
  return anyFree(new Set(found.map((record) => (record as unknown as R)[name])), count);
}

/**
 * Writes with a free number, and retries with another if a unique index says that it was taken meanwhile.
 * @throws `full()` when none is free; what `write` throws
 */
export async function withNumber<T>(
  find: () => Promise<number | undefined>,
  full: () => Error | Promise<Error>,
  write: (number: number) => Promise<T>,
): Promise<T> {
  for (;;) {
    const number = await find();
    if (number === undefined) throw await full();
    try {
      return await write(number);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  }
}
