import type { ListCollection } from '@tandem/list-query';
import type { BaseRecord, Model } from '@tandem/storage';
import type { ListRows } from './lists.js';

type Stage = Record<string, unknown>;

interface FindOptions {
  sort?: object;
  skip?: number;
  limit?: number;
  projection?: object;
}

/**
 * Rows that are made of a model's records, as a list reads them: elements of an array in each, or records with something computed.
 * @param stages begin with the records that they are made of; values stand in them as they are, or as `$literal`
 */
export function viewOf<R extends BaseRecord>(model: Model<R>, stages: readonly Stage[]): ListRows {
  const records = model.collection as unknown as ListCollection;
  const { collectionName } = records;
  // what joins a collection with itself joins the view
  const inView = (stage: Stage): Stage => {
    const union = stage.$unionWith as { coll: string; pipeline: Stage[] } | undefined;
    return union?.coll === collectionName ? { $unionWith: { ...union, pipeline: [...stages, ...union.pipeline] } } : stage;
  };
  const aggregate: ListCollection['aggregate'] = (pipeline, options) =>
    records.aggregate([...stages, ...(pipeline as Stage[]).map(inView)], options);
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
