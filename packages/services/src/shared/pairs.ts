import type { Lists } from '@tandem/lists';

/** A lookup of more pairs than this waits its turn with the costly lists. */
const PAIRS_MAX = 5000;

interface Rows {
  aggregate(stages: object[]): { toArray(): Promise<object[]> };
}

/** Values of two indexed fields, of which a record is wanted that has one of each. */
type Pairs = Readonly<Record<string, readonly string[]>>;

/**
 * Finds the values of a field in live records that have one of the given values in each of two fields, with one query.
 * @param lists its gate makes lookups of many pairs wait
 */
export function createPairLookup({ lists }: { lists: Lists }, collection: Rows) {
  /** @param call the request, for the gate: see `askedBy` */
  return async function lookUp(field: string, pairs: Pairs, call: object): Promise<string[]> {
    const count = Object.values(pairs).reduce((product, values) => product * values.length, 1);
    if (count === 0) return [];
    const conditions = Object.entries(pairs).map(([name, values]) => [name, { $in: values }]);
    const stages = [
      { $match: { ...(Object.fromEntries(conditions) as object), deletedAt: null } },
      { $group: { _id: `$${field}` } },
    ];
    const isDear = count > PAIRS_MAX;
    const found = await (isDear ? lists.read({ collection }, stages, 'ids', call) : collection.aggregate(stages).toArray());
    return (found as { _id: string }[]).map(({ _id }) => _id);
  };
}
