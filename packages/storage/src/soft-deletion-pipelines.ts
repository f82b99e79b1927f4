/** One stage of an aggregation: `{ $name: body }`. */
type Stage = Record<string, unknown>;

/** These must come first and give records: the condition follows them. The order of two `$match` does not matter, but `$text` must stay first. */
const firstByForce = new Set(['$match', '$geoNear', '$search', '$vectorSearch', '$rankFusion', '$scoreFusion']);
/** These give no records. */
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

/** The pipeline over the live records of its collection, or only the deleted ones, joined with live records. */
export function withoutDeleted(pipeline: readonly Stage[], deleted?: 'only'): Stage[] {
  const stages = joiningLive(pipeline);
  const first = Object.keys(stages[0] ?? {})[0] ?? '';
  if (withoutRecords.has(first)) return stages;
  stages.splice(firstByForce.has(first) ? 1 : 0, 0, { $match: deleted === 'only' ? { deletedAt: { $ne: null } } : live });
  return stages;
}

/**
 * The pipeline, joined with live records only. Collections without soft deletion have no `deletedAt`, which `null`
 * matches as well: it need not be known which ones these are.
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
  // A facet's own records come from outside, where they are filtered already.
  if ($facet) {
    return { $facet: Object.fromEntries(Object.entries($facet).map(([name, pipeline]) => [name, joiningLive(pipeline)])) };
  }
  return stage;
}
