import { LRUCache } from 'lru-cache';
import { LIMITS } from './limits.js';

/** Caches slow counts, so that a list's total is not counted again for each page (decisions L1). */
export interface CountCache {
  /**
   * The count for a key of a group: cached, in progress, or new.
   * @param isShared whether `make` works for others too, after its caller has gone: a cached count is then made again
   * shortly before it expires, so that nobody waits for one that is often asked for
   */
  count(group: string, key: string, make: () => Promise<number>, isShared?: boolean): Promise<number>;
  /** Whether the last count for this key was so large that the next must wait at the gate. Writes do not reset it. */
  isLarge(group: string, key: string): boolean;
  /** Drops all counts of a group, those in progress included: call it after a write. */
  drop(group: string): void;
}

export interface CountCacheSettings {
  /** Current time in milliseconds; default the system clock. */
  now?: () => number;
  /** Faster counts are not cached. Default 5 ms. */
  slowMs?: number;
  /** Lifetime. Default 5 s. */
  keepMs?: number;
  /** Most groups, and most counts in each; the least recently used is dropped. Default 1000. */
  size?: number;
}

interface Entry {
  total: Promise<number>;
  /** Undefined while the count is in progress. */
  until: number | undefined;
  /** The next count, while it is in progress. */
  next: Promise<number> | undefined;
}

/** The last part of a count's lifetime, in which the next one is made. */
const RENEWED_IN_LAST = 0.2;

/** A cache for one process. Its owner calls `drop` after each write. */
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

  /** Checks both ends of the lifetime, in case the clock was set back. */
  function isFresh({ until }: Entry): boolean {
    if (until === undefined) return true;
    const left = until - now();
    return left > 0 && left <= keepMs;
  }

  const isExpiring = ({ until, next }: Entry) =>
    until !== undefined && next === undefined && until - now() <= keepMs * RENEWED_IN_LAST;

  /** @param kept serves callers until the new count is made */
  function startCount(
    group: string,
    key: string,
    make: () => Promise<number>,
    entries: LRUCache<string, Entry>,
    kept?: Entry,
  ): Promise<number> {
    const started = performance.now();
    const entry: Entry = { total: make(), until: undefined, next: undefined };
    if (kept) kept.next = entry.total;
    else entries.set(key, entry);
    const isCurrent = () => entries.peek(key) === (kept ?? entry);
    entry.total.then(
      (total) => {
        noteSize(`${group} ${key}`, total);
        if (!isCurrent()) return;
        entry.until = now() + keepMs;
        if (performance.now() - started > slowMs) entries.set(key, entry);
        else entries.delete(key);
      },
      () => {
        if (kept) kept.next = undefined;
        else if (isCurrent()) entries.delete(key);
      },
    );
    return entry.total;
  }

  return {
    count(group, key, make, isShared = false) {
      const entries = groups.get(group) ?? new LRUCache<string, Entry>({ max: size });
      groups.set(group, entries);
      const kept = entries.get(key);
      if (!kept || !isFresh(kept)) return kept?.next ?? startCount(group, key, make, entries);
      if (isShared && isExpiring(kept)) void startCount(group, key, make, entries, kept);
      return kept.total;
    },
    isLarge: (group, key) => large.has(`${group} ${key}`),
    // A count in progress still serves those who asked before the write; later callers no longer find it.
    drop(group) {
      groups.delete(group);
    },
  };
}
