import { isDuplicateKey, type BaseRecord, type Model } from '@tandem/storage';

/** Whether an insert failed only because records were there already. */
function isOnlyDoubles(error: unknown): boolean {
  const { writeErrors } = error as { writeErrors?: { code?: unknown }[] };
  return isDuplicateKey(error) !== false && (writeErrors ?? []).every(({ code }) => code === 11_000);
}

/** Inserts records by one write, as they are. Skips those that a unique index refuses: they are there already. */
export async function insertNew<R extends BaseRecord>({ collection }: Model<R>, records: readonly R[]): Promise<void> {
  if (records.length === 0) return;
  try {
    await collection.insertMany(records as unknown as object[], { ordered: false });
  } catch (error) {
    if (!isOnlyDoubles(error)) throw error;
  }
}
