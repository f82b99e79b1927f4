import { atMost } from '@tandem/core';
import type { FilesDriver, StoredObject } from '@tandem/drivers/files';
import type { Clock } from '@tandem/storage';
import { LRUCache } from 'lru-cache';

/** Maximum number of cached addresses. */
const MAX_KEPT = 10_000;
/** An address is reused for this part of its lifetime, so that every caller gets at least the rest. */
const SHARED_PART = 1 / 3;

/**
 * Caches download addresses. A list needs one for each row on every request; reusing them saves signing, and keeps URLs stable
 * for browser caches.
 */
export function createAddressCache(driver: FilesDriver, clock: Clock) {
  const kept = new LRUCache<string, Promise<string>>({
    ...atMost(MAX_KEPT),
    ttl: driver.addressMs * SHARED_PART,
    ttlResolution: 0,
    perf: { now: () => clock.now().getTime() },
  });
  return {
    /** @throws when it cannot be signed */
    urlOf(object: StoredObject): Promise<string> {
      const existing = kept.get(object.objectId);
      if (existing) return existing;
      const url = driver.downloadUrl(object);
      kept.set(object.objectId, url);
      url.catch(() => kept.peek(object.objectId) === url && kept.delete(object.objectId));
      return url;
    },
  };
}
