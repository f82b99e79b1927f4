import type { BaseRecord, Model } from '@tandem/storage';

/** Finds which of the given records are live, or with `include` are there at all, by their ids. */
export function existingIn<R extends BaseRecord>(model: Model<R>, options: { deleted?: 'include' } = {}) {
  const Records = model as unknown as Model<BaseRecord>;
  return async function existing(ids: readonly string[]): Promise<Set<string>> {
    if (ids.length === 0) return new Set();
    const found = await Records.find({ _id: { $in: ids } }, { _id: 1 }, options).lean<{ _id: string }[]>();
    return new Set(found.map(({ _id }) => _id));
  };
}
