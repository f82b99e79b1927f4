import { validationError } from '@tandem/core';
import { z } from 'zod';
import { field, serverField } from './record.js';

const KEYS_MAX = 50;
const KEY = /^[A-Za-z][A-Za-z0-9_]{0,39}$/;
const TEXT_MAX = 500;

/** Data of a host's or client's own, by key. */
export type Metadata = Record<string, string | number | boolean>;
export type MetadataPatch = Record<string, string | number | boolean | null>;

const isValue = (value: unknown) =>
  typeof value === 'boolean' || Number.isFinite(value) || (typeof value === 'string' && value.length <= TEXT_MAX);

/** Without most keys of a map that has too many: one too many is refused as thousands are (decisions H5). */
function withoutExcessKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  return entries.length > KEYS_MAX ? Object.fromEntries(entries.slice(0, KEYS_MAX + 1)) : value;
}

/** `isPatch` also allows null, which removes a key. */
function given(isPatch: boolean) {
  const shape = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), ...(isPatch ? [z.null()] : [])]));
  const checked = shape.superRefine((metadata, check) => {
    const add = (path: string[], message: string) => check.addIssue({ code: 'custom', path, message });
    const entries = Object.entries(metadata);
    if (entries.length > KEYS_MAX) return add([], `must NOT have more than ${KEYS_MAX} keys`);
    for (const [key, value] of entries) {
      if (!KEY.test(key) || key in Object.prototype) add([], `must have keys of up to 40 letters, digits and _`);
      else if (!isValue(value) && value !== null) add([key], `must NOT have more than ${TEXT_MAX} characters`);
    }
  });
  return z.preprocess(withoutExcessKeys, checked);
}

const DESCRIPTION =
  `Data of your own: at most ${KEYS_MAX} keys of up to 40 letters, digits and \`_\`, with texts of up to ${TEXT_MAX} characters, ` +
  'numbers and booleans.';

export const GivenMetadata = given(false).meta({
  id: 'GivenMetadata',
  description: DESCRIPTION,
}) as unknown as z.ZodType<Metadata>;
export const MetadataPatch = given(true).meta({
  id: 'MetadataPatch',
  description: `${DESCRIPTION} A change keeps other keys; null removes one.`,
}) as unknown as z.ZodType<MetadataPatch>;
export const MetadataSchema = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
  .meta({ id: 'Metadata', description: 'Data of your own.' });

/** What lists may ask of it. */
export const METADATA_LIST_FIELD = { type: 'string', open: true } as const;

/** What lists may ask of metadata that admins alone know of. */
export const PRIVATE_LIST_FIELD = { ...METADATA_LIST_FIELD, guarded: true } as const;

/** What admins are shown of it; others' answers never have the field. */
export const PrivateMetadataSchema = MetadataSchema.optional().describe('Shown to admins alone.');

/** What an input gives of it at creation: see `refusePrivate`. */
export const GivenPrivateMetadata = GivenMetadata.optional().describe('Given by admins alone.');

/** The field `privateMetadata` of a record, which an input for admins gives. */
export const privateMetadataField = serverField(PrivateMetadataSchema, { stored: { type: Object }, list: PRIVATE_LIST_FIELD });

/** The field `metadata` of a record (decisions, "Catalogue"). */
export const metadataField = field(GivenMetadata, {
  optional: true,
  patch: MetadataPatch,
  shown: MetadataSchema,
  stored: { type: Object, default: {} },
  list: METADATA_LIST_FIELD,
});

/**
 * The metadata after a change, for writes that require the record to be as it was read.
 * @param pointer the position of the change in the body
 * @throws validationError for too many keys
 */
export function mergeMetadata(before: Metadata | null | undefined, patch: MetadataPatch, pointer: string): Metadata {
  const merged = Object.entries({ ...before, ...patch }).filter(
    (entry): entry is [string, Metadata[string]] => entry[1] !== null,
  );
  if (merged.length > KEYS_MAX) throw tooManyKeys(pointer);
  return Object.fromEntries(merged);
}

/** @param pointer the position of the change in the body */
export function tooManyKeys(pointer: string): Error {
  return validationError([`request body${pointer} must NOT have more than ${KEYS_MAX} keys`]);
}

/**
 * A filter for the records that have room for a change of metadata, so that the limit holds whoever else writes at the same time.
 * It also leaves out what a host has stored as something else.
 */
export function hasRoomFor(path: string, patch: MetadataPatch): object {
  const keysOf = (isRemoved: boolean) => Object.keys(patch).filter((key) => (patch[key] === null) === isRemoved);
  const type = { $type: `$${path}` };
  const before = { $objectToArray: { $cond: [{ $eq: [type, 'object'] }, `$${path}`, {}] } };
  const kept = { $setDifference: [{ $map: { input: before, in: '$$this.k' } }, keysOf(true)] };
  const isMap = { $in: [type, ['object', 'missing']] };
  return { $expr: { $and: [isMap, { $lte: [{ $size: { $setUnion: [kept, keysOf(false)] } }, KEYS_MAX] }] } };
}
