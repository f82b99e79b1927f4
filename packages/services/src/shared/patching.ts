import { setTimeout } from 'node:timers/promises';
import { requestErrors } from '@tandem/core';
import type { BulkChange } from '@tandem/storage';
import { mergeHostFields, type StoredHostFields } from './host-fields.js';
import { mergeMetadata, type Metadata, type MetadataPatch } from './metadata.js';
import { createTurns } from './turns.js';
import { mergePrice, type PricePatch, type StoredPrice } from './price.js';

/** How long a change is tried that others overtake. By default a call has 14 seconds: what was refused should not be done after it. */
export const PATIENCE_MS = 10_000;
/** The longest pause after the first attempt, doubled after each, up to the longest of all. */
const PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 1000;

/** The fields that a patch sets. */
export function givenOf<Patch extends object>(patch: Patch): Partial<Patch> {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as Partial<Patch>;
}

/**
 * The change of one record with a price and metadata, which are merged: the fields before and after, and what the write expects to be unchanged.
 * @param pointer the position of the change in the body, for validation texts
 * @throws validationError when the amount and the currency do not fit together, or for too many keys of metadata
 */
export function changeOf(
  record: {
    _id: string;
    price?: StoredPrice | null;
    metadata?: Metadata;
    hostFields?: StoredHostFields | null;
    writer?: string | null;
  },
  given: { price?: PricePatch | null | undefined; metadata?: MetadataPatch | undefined; hostFields?: StoredHostFields },
  pointer = '',
): BulkChange {
  const { price, metadata, hostFields, ...set } = given;
  const merged = price ? mergePrice(record.price, price, `${pointer}/price`) : undefined;
  const after: Record<string, unknown> = {
    ...set,
    ...(price === null && { price }),
    ...(merged && { price: merged.price }),
    ...(metadata && { metadata: mergeMetadata(record.metadata, metadata, `${pointer}/metadata`) }),
    ...(hostFields && { hostFields: mergeHostFields(record.hostFields, hostFields) }),
  };
  // a field that the record lacks, as a host may leave it, is taken away again: null is no metadata
  const before = Object.fromEntries(Object.entries(record).filter(([key]) => Object.hasOwn(after, key)));
  // a deletion leaves the writer alone
  const expected = { writer: record.writer ?? null, deletedAt: null, ...merged?.expected };
  return { id: record._id, set: after, before, expected };
}

/**
 * Makes a function that retries until an attempt succeeds, for ten seconds at most. Writers of many records can overtake each
 * other so that none succeeds: after their first attempt those of one key come one at a time in this process, and the pauses
 * between attempts grow.
 */
export function createRetries() {
  const inTurn = createTurns();
  /**
   * @param key of what is changed
   * @param attempt resolves to undefined when a concurrent change overtook it
   * @throws requestErrors.unavailable
   */
  return async function untilDone<Result>(key: string, attempt: () => Promise<Result | undefined>): Promise<Result> {
    const end = performance.now() + PATIENCE_MS;
    let result = await attempt();
    for (let longest = PAUSE_MS; result === undefined; longest = Math.min(2 * longest, LONGEST_PAUSE_MS)) {
      await setTimeout(longest * Math.random());
      result = await inTurn(key, async () => {
        if (performance.now() > end) throw requestErrors.unavailable({ retryAfter: 1 });
        return attempt();
      });
    }
    return result;
  };
}
