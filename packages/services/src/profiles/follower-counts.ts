import type { Clock } from '@tandem/core';
import { createCountCache, type CountCache } from '@tandem/list-query';

/** Numbers of followers that took long to count. */
export interface FollowerCounts {
  /** For the lists of one profile, organization or product. */
  of(targetId: string): CountCache;
  drop(targetId: string): void;
  dropAll(): void;
}

/**
 * Keeps the totals of long lists of followers for five seconds, each until this instance changes it: not until anything in the collection is
 * written, as elsewhere, since somebody always follows something (decisions L1). Counters in the store would be a second write with each
 * follow: wrong after a crash between the two, one record that all followers of a target wait for, and no help to a filtered list.
 */
export function createFollowerCounts(clock: Clock): FollowerCounts {
  const create = () => createCountCache({ now: () => clock.now().getTime() });
  let counts = create();
  return {
    of: (targetId) => ({
      count: (_, key, make) => counts.count(targetId, key, make),
      isLarge: (_, key) => counts.isLarge(targetId, key),
      drop: () => counts.drop(targetId),
    }),
    drop: (targetId) => counts.drop(targetId),
    dropAll: () => (counts = create()),
  };
}
