import { LRUCache } from 'lru-cache';
import { LIMITS } from './limits.js';

/** Keeps counts that were slow to make, so that a list's total need not be counted anew for each page (decisions L1). */
export interface CountCache {
  /** The count under a key of a group: one that is kept, one that is being made, or a new one. */
  count(group: string, key: string, make: () => Promise<number>): Promise<number>;
  /** Whether the last count under this key was of so many that the next one has to wait for its turn. Writes do not make it forget. */
  isLarge(group: string, key: string): boolean;
  /** Forgets all counts of a group, also those being made: something in it was written. */
  drop(group: string): void;
}

export interface CountCacheSettings {
  /** The time in milliseconds; default the machine's. */
  now?: () => number;
  /** What took less is not kept. Default 5 ms. */
  slowMs?: number;
  /** For so long. Default 5 s. */
  keepMs?: number;
  /** So many groups at most, and so many counts in each; what was used longest ago goes. Default 1000. */
  size?: number;
}

interface Entry {
  total: Promise<number>;
  /** Undefined while it is being made. */
  until: number | undefined;
}

/** A cache for one process. Its owner calls `drop` at each write it makes. */
export function createCountCache({
  now = Date.now,
  slowMs = 5,
  keepMs = 5000,
  size = 1000,
}: CountCacheSettings = {}): CountCache {
  const groups = new LRUCache<string, LRUCache<string, Entry>>({ max: size });
  const large = new LRUCache<string, true>({ max: size });

  function noteSize(id: string, total: number): void {
    if (total > LIMITS.quickCount) large.set(id, true);
    else large.delete(id);
  }

  /** Not for longer than it may be kept, should the clock have gone back. */
  function isFresh({ until }: Entry): boolean {
    if (until === undefined) return true;
    const left = until - now();
    return left > 0 && left <= keepMs;
  }

  function startCount(
    group: string,
    key: string,
    make: () => Promise<number>,
    entries: LRUCache<string, Entry>,
  ): Promise<number> {
    const started = performance.now();
    const entry: Entry = { total: make(), until: undefined };
    const isCurrent = () => entries.peek(key) === entry;
    entry.total.then(
      (total) => {
        noteSize(`${group} ${key}`, total);
        if (!isCurrent()) return;
        if (performance.now() - started > slowMs) entry.until = now() + keepMs;
        else entries.delete(key);
      },
      () => {
        if (isCurrent()) entries.delete(key);
      },
    );
    entries.set(key, entry);
    return entry.total;
  }

  return {
    count(group, key, make) {
      const entries = groups.get(group) ?? new LRUCache<string, Entry>({ max: size });
      groups.set(group, entries);
      const kept = entries.get(key);
      if (kept && isFresh(kept)) return kept.total;
      return startCount(group, key, make, entries);
    },
    isLarge: (group, key) => large.has(`${group} ${key}`),
    // What is being made goes on for those who asked before the write, and is found by nobody after it.
    drop(group) {
      groups.delete(group);
    },
  };
}
