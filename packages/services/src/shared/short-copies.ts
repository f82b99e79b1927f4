/** For how long a copy may be used, in milliseconds: what ends a session or a membership acts within this time (decisions A6, S4). */
const COPY_LIFE_MS = 1000;
/** How many copies are kept. */
const COPIES_MAX = 10_000;

/** Copies of what the store has, by keys: each is used for a second, counted from before it was read. */
export function createShortCopies<Value>() {
  const copies = new Map<string, { readAt: number; value: Promise<Value> }>();
  return {
    /** The copy, else what `read` gives. A failed reading leaves no copy. */
    get(key: string, read: () => Promise<Value>): Promise<Value> {
      const now = performance.now();
      const copy = copies.get(key);
      if (copy && now - copy.readAt < COPY_LIFE_MS) return copy.value;
      const fresh = { readAt: now, value: read() };
      // the oldest come first
      copies.delete(key);
      copies.set(key, fresh);
      if (copies.size > COPIES_MAX) copies.delete(copies.keys().next().value as string);
      fresh.value.catch(() => copies.get(key) === fresh && copies.delete(key));
      return fresh.value;
    },

    drop: (key: string): void => void copies.delete(key),

    dropWhere(isStale: (key: string) => boolean): void {
      for (const key of copies.keys()) if (isStale(key)) copies.delete(key);
    },
  };
}
