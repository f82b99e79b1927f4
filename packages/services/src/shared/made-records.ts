import { versioned } from '@tandem/lists';
import { MAJORITY, type BaseRecord, type Model } from '@tandem/storage';

/**
 * Finds the answer of an earlier attempt with an `Idempotency-Key` that has stored records, all or none: in the order of
 * their ids, deleted ones too. They are read so that no failover takes them back afterwards (decisions H13).
 */
export function manyMadeIn<R extends BaseRecord, Shown>(
  model: Model<R>,
  show: (records: readonly R[]) => Shown | Promise<Shown>,
) {
  return async (count: number, nextId: () => string): Promise<Shown | undefined> => {
    const ids = Array.from({ length: count }, nextId);
    const found = await model.find({ _id: { $in: ids } }, undefined, { deleted: 'include', ...MAJORITY }).lean<R[]>();
    const byId = new Map(found.map((record) => [record._id, record]));
    return byId.size < count ? undefined : show(ids.flatMap((id) => byId.get(id) ?? []));
  };
}

/** The same for one record, whose answer has its version. */
export function madeIn<R extends BaseRecord, Shown extends object>(model: Model<R>, show: (record: R) => Shown | Promise<Shown>) {
  return async (newId: () => string): Promise<Shown | undefined> => {
    const found = await model.findOne({ _id: newId() }, undefined, { deleted: 'include', ...MAJORITY }).lean<R>();
    return found ? versioned(await show(found), found) : undefined;
  };
}
