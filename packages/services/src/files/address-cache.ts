import type { FilesDriver, StoredObject } from '@tandem/drivers/files';
import type { Clock } from '@tandem/storage';

/** Addresses kept at most; the oldest go first. */
const MAX_KEPT = 10_000;
/** An address is given out again for this part of its life, so that whoever gets it has the rest. */
const SHARED_PART = 1 / 3;

/**
 * Download addresses. A list asks for those of all its rows, again and again: each is signed once in a while, and stays the same meanwhile, so that
 * browsers keep what they have.
 */
export function createAddressCache(driver: FilesDriver, clock: Clock) {
  const kept = new Map<string, { url: Promise<string>; until: number }>();
  return {
    /** @throws when it cannot be signed */
    urlOf(object: StoredObject): Promise<string> {
      const now = clock.now().getTime();
      const known = kept.get(object.objectId);
      if (known && known.until > now) return known.url;
      kept.delete(object.objectId);
      const url = driver.downloadUrl(object);
      kept.set(object.objectId, { url, until: now + driver.addressMs * SHARED_PART });
      url.catch(() => kept.delete(object.objectId));
      const [oldest] = kept.keys();
      if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
      return url;
    },
  };
}
