import type { ListCollection } from '@tandem/list-query';
import type { BaseRecord, Model } from '@tandem/storage';
import type { ListRows } from './lists.js';

export type Stage = Record<string, unknown>;

interface FindOptions {
  sort?: object;
  skip?: number;
  limit?: number;
  projection?: object;
}

/**
 * Rows computed from a model's records: the elements of an array in each record, or records with computed fields.
 * @param made the stages to run before those of the query, or a function that places the query's stages among its own. The stages
 * begin with the source records; values stand in them literally or as `$literal`.
 */
export function viewOf<R extends BaseRecord>(
  model: Model<R>,
  made: readonly Stage[] | ((asked: readonly Stage[]) => Stage[]),
): ListRows {
  const within = typeof made === 'function' ? made : (asked: readonly Stage[]) => [...made, ...asked];
  const records = model.collection as unknown as ListCollection;
  const { collectionName } = records;
  // a `$unionWith` on the collection itself must join the view
  const inView = (stage: Stage): Stage => {
    const union = stage.$unionWith as { coll: string; pipeline: Stage[] } | undefined;
    return union?.coll === collectionName ? { $unionWith: { ...union, pipeline: within(union.pipeline) } } : stage;
  };
  const aggregate: ListCollection['aggregate'] = (pipeline, options) =>
    records.aggregate(within((pipeline as Stage[]).map(inView)), options);
  const view: ListCollection = {
    collectionName,
    aggregate,
    find(filter, options = {}) {
      const { sort, skip, limit, projection, ...others } = options as FindOptions;
      const page = [
        { $match: filter },
        ...(sort ? [{ $sort: sort }] : []),
        ...(skip ? [{ $skip: skip }] : []),
        ...(limit ? [{ $limit: limit }] : []),
        ...(projection ? [{ $project: projection }] : []),
      ];
      return aggregate(page, others);
    },
  };
  return { collection: view, isView: true };
}

/**
 * Places stages after those that only select rows, so that the selection uses an index and the stages run for one page of rows.
 */
export function behindChoice(asked: readonly Stage[], stages: readonly Stage[]): Stage[] {
  const chosen = asked.findIndex((stage) => !['$match', '$sort', '$skip', '$limit'].some((name) => name in stage));
  return chosen === -1 ? [...asked, ...stages] : [...asked.slice(0, chosen), ...stages, ...asked.slice(chosen)];
}
