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
  /** So many groups at most, and so many counts in each; the oldest goes. Default 1000. */
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
  const groups = new Map<string, Map<string, Entry>>();
  const large = new Set<string>();

  function noteSize(id: string, total: number): void {
    large.delete(id);
    if (total <= LIMITS.quickCount) return;
    large.add(id);
    dropOldest(large, size);
  }

  /** Not for longer than it may be kept, should the clock have gone back. */
  function isFresh({ until }: Entry): boolean {
    if (until === undefined) return true;
    const left = until - now();
    return left > 0 && left <= keepMs;
  }

  function startCount(group: string, key: string, make: () => Promise<number>, entries: Map<string, Entry>): Promise<number> {
    const started = performance.now();
    const entry: Entry = { total: make(), until: undefined };
    const isCurrent = () => entries.get(key) === entry;
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
    entries.delete(key);
    entries.set(key, entry);
    dropOldest(entries, size);
    return entry.total;
  }

  return {
    count(group, key, make) {
      const entries = groups.get(group) ?? new Map<string, Entry>();
      groups.set(group, entries);
      dropOldest(groups, size);
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

/** Makes room for the newest. */
function dropOldest(kept: Pick<Set<string>, 'size' | 'keys' | 'delete'>, size: number): void {
  const [oldest] = kept.keys();
  if (oldest !== undefined && kept.size > size) kept.delete(oldest);
}
