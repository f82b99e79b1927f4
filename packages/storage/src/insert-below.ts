import { isDuplicateKey } from './failures.js';
import type { BaseRecord, Model } from './model.js';

/**
 * Inserts a record, then checks what it refers to: a later deletion of that finds the record. Removes the record again
 * where `check` throws.
 * @returns the record; undefined when a unique index refused it
 * @throws what `check` throws, also where the record exists already; else a duplicate key error where the id exists: an
 * earlier attempt has stored the record
 */
export async function insertBelow<R extends BaseRecord>(
  model: Model<R>,
  fields: Partial<R>,
  check: () => Promise<void>,
): Promise<R | undefined> {
  let earlier: Error | undefined;
  const record = await model.create(fields).catch((error: Error) => {
    const refused = isDuplicateKey(error);
    if (!refused) throw error;
    if (refused.fields.includes('_id')) earlier = error;
  });
  try {
    await check();
  } catch (error) {
    if (record) await model.deleteOne({ _id: record._id }, { deleted: 'include', hard: true });
    throw error;
  }
  if (earlier) throw earlier;
  return record?.toObject();
}
