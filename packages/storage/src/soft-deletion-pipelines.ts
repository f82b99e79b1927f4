/** One stage of an aggregation: `{ $name: body }`. */
type Stage = Record<string, unknown>;

/**
 * Stages that must come first and yield records: the condition is placed after them. The order of two `$match` does not
 * matter, but `$text` must stay first.
 */
const firstByForce = new Set(['$match', '$geoNear', '$search', '$vectorSearch', '$rankFusion', '$scoreFusion']);
/** Stages that yield no records. */
const withoutRecords = new Set([
  '$collStats',
  '$indexStats',
  '$planCacheStats',
  '$searchMeta',
  '$documents',
  '$changeStream',
  '$listSearchIndexes',
]);

const live = { deletedAt: null };

/** The pipeline over live, or only deleted, records of its collection, with only live records in joins. */
export function withoutDeleted(pipeline: readonly Stage[], deleted?: 'only'): Stage[] {
  const stages = joiningLive(pipeline);
  const first = Object.keys(stages[0] ?? {})[0] ?? '';
  if (withoutRecords.has(first)) return stages;
  stages.splice(firstByForce.has(first) ? 1 : 0, 0, { $match: deleted === 'only' ? { deletedAt: { $ne: null } } : live });
  return stages;
}

/**
 * The pipeline with only live records in joins. Collections without soft deletion have no `deletedAt`, which `null`
 * matches too, so they need not be told apart.
 */
export function joiningLive(pipeline: readonly Stage[]): Stage[] {
  return pipeline.map(joinedWithoutDeleted);
}

function joinedWithoutDeleted(stage: Stage): Stage {
  const { $lookup, $unionWith, $graphLookup, $facet } = stage as {
    $lookup?: { from?: unknown; pipeline?: Stage[] };
    $unionWith?: string | { coll?: unknown; pipeline?: Stage[] };
    $graphLookup?: { restrictSearchWithMatch?: object };
    $facet?: Record<string, Stage[]>;
  };
  if ($lookup) return { $lookup: { ...$lookup, pipeline: withoutDeleted($lookup.pipeline ?? []) } };
  if ($unionWith) {
    const union = typeof $unionWith === 'string' ? { coll: $unionWith } : $unionWith;
    return { $unionWith: { ...union, pipeline: withoutDeleted(union.pipeline ?? []) } };
  }
  if ($graphLookup) {
    const match = $graphLookup.restrictSearchWithMatch;
    return { $graphLookup: { ...$graphLookup, restrictSearchWithMatch: match ? { $and: [match, live] } : live } };
  }
  // The input of a facet is already filtered.
  if ($facet) {
    return { $facet: Object.fromEntries(Object.entries($facet).map(([name, pipeline]) => [name, joiningLive(pipeline)])) };
  }
  return stage;
}
