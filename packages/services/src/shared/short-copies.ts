import { LRUCache } from 'lru-cache';

/** Lifetime of a copy, in milliseconds: the end of a session or membership takes effect within this time (decisions A6, S4). */
const COPY_LIFE_MS = 1000;
const COPIES_MAX = 10_000;

/** Caches values of the store by key, each for one second from the start of its read. */
export function createShortCopies<Value>() {
  const copies = new LRUCache<string, { value: Promise<Value> }>({ max: COPIES_MAX, ttl: COPY_LIFE_MS, ttlResolution: 0 });
  return {
    /** Returns the copy, else the result of `read`. A failed read leaves no copy. */
    get(key: string, read: () => Promise<Value>): Promise<Value> {
      const copy = copies.get(key);
      if (copy) return copy.value;
      const fresh = { value: read() };
      copies.set(key, fresh);
      fresh.value.catch(() => copies.peek(key) === fresh && copies.delete(key));
      return fresh.value;
    },

    drop: (key: string): void => void copies.delete(key),

    dropWhere(isStale: (key: string) => boolean): void {
      for (const key of copies.keys()) if (isStale(key)) copies.delete(key);
    },
  };
}
