import type { Clock } from '@tandem/core';
import { createCountCache, type CountCache } from '@tandem/list-query';

/** Caches follower totals that were slow to count. */
export interface FollowerCounts {
  /** The cache for the lists of one profile, organization or product. */
  of(targetId: string): CountCache;
  drop(targetId: string): void;
  dropAll(): void;
}

/**
 * Caches the totals of long follower lists for five seconds, each until this instance changes that list. Elsewhere any write to
 * the collection drops all totals, but follows are written constantly (decisions L1). Counters in the store would need a second
 * write per follow: they would be wrong after a crash between the two, would make all followers of a target contend for one
 * record, and would not help filtered lists.
 */
export function createFollowerCounts(clock: Clock): FollowerCounts {
  const create = () => createCountCache({ now: () => clock.now().getTime() });
  let counts = create();
  return {
    of: (targetId) => ({
      count: (_, ...rest) => counts.count(targetId, ...rest),
      isLarge: (_, ...rest) => counts.isLarge(targetId, ...rest),
      drop: () => counts.drop(targetId),
    }),
    drop: (targetId) => counts.drop(targetId),
    dropAll: () => (counts = create()),
  };
}
