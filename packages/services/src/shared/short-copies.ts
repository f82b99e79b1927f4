import { atMost } from '@tandem/core';
import { LRUCache } from 'lru-cache';

/** Lifetime of a copy, in milliseconds: the end of a session or membership takes effect within this time (decisions A6, S4). */
const COPY_LIFE_MS = 1000;
const COPIES_MAX = 10_000;

/** Caches values of the store by key, each for one second from the start of its read. */
export function createShortCopies<Value>() {
  const copies = new LRUCache<string, { value: Promise<Value> }>({ ...atMost(COPIES_MAX), ttl: COPY_LIFE_MS, ttlResolution: 0 });

  /** Returns the copy, else the result of `read`. A failed read leaves no copy. */
  function get(key: string, read: () => Promise<Value>): Promise<Value> {
    const copy = copies.get(key);
    if (copy) return copy.value;
    const fresh = { value: read() };
    copies.set(key, fresh);
    fresh.value.catch(() => copies.peek(key) === fresh && copies.delete(key));
    return fresh.value;
  }

  return {
    get,

    /** Returns the copies of several keys, and for all others the result of one `read`. A key without a value leaves no copy. */
    async many(
      keys: readonly string[],
      read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
    ): Promise<Map<string, NonNullable<Value>>> {
      const known = new Map(keys.map((key) => [key, copies.get(key)?.value]));
      const missing = keys.filter((key) => !known.get(key));
      const reading = missing.length > 0 ? read(missing) : undefined;
      for (const key of missing)
        known.set(
          key,
          get(key, async () => (await reading)?.get(key) as Value),
        );
      const found = new Map<string, NonNullable<Value>>();
      for (const [key, value] of known) {
        const one = await value;
        if (one === undefined || one === null) copies.delete(key);
        else found.set(key, one);
      }
      return found;
    },

    clear: (): void => copies.clear(),

    drop: (key: string): void => void copies.delete(key),

    dropWhere(isStale: (key: string) => boolean): void {
      for (const key of copies.keys()) if (isStale(key)) copies.delete(key);
    },
  };
}
