import { setTimeout } from 'node:timers/promises';
import { requestErrors } from '@tandem/core';
import type { BulkChange } from '@tandem/storage';
import { mergeHostFields, type StoredHostFields } from './host-fields.js';
import { mergeMetadata, type Metadata, type MetadataPatch } from './metadata.js';
import { mergePrice, type PricePatch, type StoredPrice } from './price.js';

/** Retries of a change whose price was changed concurrently, and the longest pause between them. */
const ATTEMPTS = 100;
const PAUSE_MS = 10;

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
  const stored: Record<string, unknown> = { ...record };
  const before = Object.fromEntries(Object.keys(after).map((key) => [key, stored[key] ?? null]));
  return { id: record._id, set: after, before, expected: { writer: record.writer ?? null, ...merged?.expected } };
}

/**
 * Retries until an attempt succeeds. @param attempt resolves to undefined when a concurrent change overtook it. @throws
 * requestErrors.unavailable
 */
export async function untilDone<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let count = 0; count < ATTEMPTS; count++) {
    const result = await attempt();
    if (result !== undefined) return result;
    await setTimeout(PAUSE_MS * Math.random());
  }
  throw requestErrors.unavailable({ retryAfter: 1 });
}
