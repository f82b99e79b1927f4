import { isDuplicateKey } from './failures.js';
import type { BaseRecord, Model } from './model.js';

/**
 * Inserts a record, then checks what it refers to: a later deletion of that finds the record. Removes the record again
 * where `check` throws.
 * @returns the record; undefined when a unique index refused it
 * @throws what `check` throws, also where the record exists already
 */
export async function insertBelow<R extends BaseRecord>(
  model: Model<R>,
  fields: Partial<R>,
  check: () => Promise<void>,
): Promise<R | undefined> {
  const record = await model.create(fields).catch((error: unknown) => {
    if (!isDuplicateKey(error)) throw error;
  });
  try {
    await check();
  } catch (error) {
    if (record) await model.deleteOne({ _id: record._id }, { deleted: 'include', hard: true });
    throw error;
  }
  return record?.toObject();
}
