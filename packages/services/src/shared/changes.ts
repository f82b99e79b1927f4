import { validationError } from '@tandem/core';
import { HOST_FIELDS, type BaseRecord, type Model } from '@tandem/storage';
import { hasRoomFor, tooManyKeys, type MetadataPatch } from './metadata.js';

/** Fields that a change merges by key, where null removes a key, and no more than a number of keys is kept. */
const METADATA = ['metadata', 'privateMetadata'];
/** Others that a change merges by key. */
const MERGED = [...METADATA, HOST_FIELDS, 'address'];

/** Whether a change has data of the host's or client's own, which are merged. */
export function hasOwnData(changes: object): boolean {
  return 'metadata' in changes || HOST_FIELDS in changes;
}

/** A map after a change, without the keys that this removes. */
function merged(field: string, patch: object) {
  const both = { $objectToArray: { $mergeObjects: [`$${field}`, { $literal: patch }] } };
  return { $arrayToObject: { $filter: { input: both, as: 'entry', cond: { $ne: ['$$entry.v', null] } } } };
}

/**
 * What an update pipeline sets for the given changes. Skips undefined values and wraps the others, which a pipeline would read as
 * expressions.
 */
export function changedFields(changes: object): Record<string, object> {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined) as [string, unknown][];
  const changed = given.map(([field, value]) => {
    const isMap = MERGED.includes(field) && typeof value === 'object' && value !== null;
    return [field, isMap ? merged(field, value) : { $literal: value }] as const;
  });
  return Object.fromEntries(changed);
}

/** The metadata among the changes, each with the filter for records that have room for it. */
function limitsOf(changes: object) {
  return METADATA.flatMap((field) => {
    const patch = (changes as Record<string, MetadataPatch | undefined>)[field];
    return patch ? [{ field, limit: hasRoomFor(field, patch) }] : [];
  });
}

/** What the filter of a write of these changes adds, so that metadata keeps its limit. */
export function roomFor(changes: object): { $and?: object[] } {
  const limits = limitsOf(changes).map(({ limit }) => limit);
  return limits.length > 0 ? { $and: limits } : {};
}

/** After a write that matched nothing: @throws validationError where metadata would have too many keys */
export async function refuseTooManyKeys<R extends BaseRecord>(model: Model<R>, id: string, changes: object): Promise<void> {
  const records = model as unknown as Model<BaseRecord>;
  for (const { field, limit } of limitsOf(changes))
    if (await records.exists({ _id: id, [field]: { $type: 'object' }, $nor: [limit] })) throw tooManyKeys(`/${field}`);
}

/**
 * Changes one record by one write, in which metadata is merged.
 * @param stages further stages of the update; those `before` find the record as it was
 * @returns null when no record matches
 * @throws validationError for too many keys of metadata
 */
export async function changeRecord<R extends BaseRecord>(
  model: Model<R>,
  filter: { _id: string },
  changes: { updatedAt: Date },
  stages: readonly object[] = [],
  { before = [], ...options }: { timestamps?: false; before?: readonly object[] } = {},
): Promise<R | null> {
  const update = [...before, { $set: changedFields(changes) }, ...stages] as never[];
  const changed = await (model as unknown as Model<BaseRecord>)
    .findOneAndUpdate({ ...filter, ...roomFor(changes) }, update, { returnDocument: 'after', updatePipeline: true, ...options })
    .lean<R>();
  if (!changed) await refuseTooManyKeys(model, filter._id, changes);
  return changed;
}

/**
 * Refuses `privateMetadata` as any other field that there is not, unless an admin gives it.
 * @param pointer the position of the fields in the body
 * @throws validationError
 */
export function refusePrivate(given: { privateMetadata?: object | undefined }, isAdmin: boolean, pointer = ''): void {
  if (given.privateMetadata && !isAdmin)
    throw validationError([`request body${pointer} must NOT have additional properties: 'privateMetadata'`]);
}

/** A record without what admins alone know. */
export function withoutPrivate<R extends object>(record: R): Omit<R, 'privateMetadata'> {
  const { privateMetadata, ...others } = record as R & { privateMetadata?: unknown };
  return others;
}
