import type { BaseRecord, Model } from '@tandem/storage';

/** Finds which of the given records are live, by their ids. */
export function existingIn<R extends BaseRecord>(model: Model<R>) {
  const Records = model as unknown as Model<BaseRecord>;
  return async function existing(ids: readonly string[]): Promise<Set<string>> {
    if (ids.length === 0) return new Set();
    const found = await Records.find({ _id: { $in: ids } }, { _id: 1 }).lean<{ _id: string }[]>();
    return new Set(found.map(({ _id }) => _id));
  };
}
