import { setTimeout } from 'node:timers/promises';
import { requestErrors } from '@tandem/core';
import type { BulkChange } from './bulk-writes.js';
import { mergePrice, type PricePatch, type StoredPrice } from './price.js';

/** A change begins anew when a price that it merges into has changed meanwhile: so often at most, some milliseconds apart. */
const ATTEMPTS = 100;
const PAUSE_MS = 10;

/** What is given of a change. */
export function givenOf<Patch extends object>(patch: Patch): Partial<Patch> {
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined)) as Partial<Patch>;
}

/**
 * A change of one record with a price: its fields before and after, and what must not have changed since.
 * @param pointer where in the body the change stands
 * @throws validationError when the prices do not go together
 */
export function changeOf(
  record: { _id: string; price?: StoredPrice | null; writer?: string | null },
  given: { price?: PricePatch | null | undefined },
  pointer = '',
): BulkChange {
  const { price, ...set } = given;
  const merged = price ? mergePrice(record.price, price, `${pointer}/price`) : undefined;
  const after: Record<string, unknown> = { ...set, ...(price === null && { price }), ...(merged && { price: merged.price }) };
  const stored: Record<string, unknown> = { ...record };
  const before = Object.fromEntries(Object.keys(after).map((key) => [key, stored[key] ?? null]));
  return { id: record._id, set: after, before, expected: { writer: record.writer ?? null, ...merged?.expected } };
}

/** Tries until it is not overtaken. @param attempt undefined when it was. @throws requestErrors.unavailable */
export async function untilDone<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let count = 0; count < ATTEMPTS; count++) {
    const result = await attempt();
    if (result !== undefined) return result;
    await setTimeout(PAUSE_MS * Math.random());
  }
  throw requestErrors.unavailable({ retryAfter: 1 });
}
