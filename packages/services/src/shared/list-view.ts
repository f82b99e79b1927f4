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
 * Rows that are made of a model's records, as a list reads them: elements of an array in each, or records with something computed.
 * @param made the stages before those that are asked for, or a function that puts them where they belong. They begin with the records
 * that the rows are made of; values stand in them as they are, or as `$literal`.
 */
export function viewOf<R extends BaseRecord>(
  model: Model<R>,
  made: readonly Stage[] | ((asked: readonly Stage[]) => Stage[]),
): ListRows {
  const within = typeof made === 'function' ? made : (asked: readonly Stage[]) => [...made, ...asked];
  const records = model.collection as unknown as ListCollection;
  const { collectionName } = records;
  // what joins a collection with itself joins the view
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

/** Puts stages behind those that only choose rows, so that they run for the rows of a page alone, and these are found by an index. */
export function behindChoice(asked: readonly Stage[], stages: readonly Stage[]): Stage[] {
  const chosen = asked.findIndex((stage) => !['$match', '$sort', '$skip', '$limit'].some((name) => name in stage));
  return chosen === -1 ? [...asked, ...stages] : [...asked.slice(0, chosen), ...stages, ...asked.slice(chosen)];
}
