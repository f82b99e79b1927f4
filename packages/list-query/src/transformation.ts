import type { Fields } from './fields.js';
import type { StoreFilter } from './filter.js';
import { compileOrder, completeOrder, type SortKey } from './order.js';

/** One stage of the store's aggregations, as plain data. */
export type Stage = Record<string, unknown>;

/** What the rows are at some place of a chain: stored records, or computed rows, which may hold others in `top`. */
export type Shape = { kind: 'records' } | { kind: 'rows'; top?: Shape };

/** How far a chain of transformations has come: each step reads what is visible and leaves what the next one sees. */
export interface Transformation {
  parameter: string;
  stages: Stage[];
  fields: Fields;
  shape: Shape;
  /** In which order the rows are: what was asked for, or what stands for it. */
  order: readonly SortKey[];
  /** What makes every order a total one; nothing where there is one row. */
  unique: readonly SortKey[];
  /** Whether an `orderby` has been given since the last grouping: there is one for each (decisions H1). */
  isOrdered: boolean;
  /** Whether the stages have brought the rows into that order. */
  isSorted: boolean;
  /** Stored paths that never leave, while the rows are records. */
  hidden: readonly string[];
  /** The one row where there is nothing to compute it from, when the last stages are those of an `aggregate`. */
  ofNothing?: Record<string, 0 | null> | undefined;
}

/** A filter that finds nothing; a limit of 0 is none to the store. */
export const NOTHING: StoreFilter = { $nor: [{}] };

/** The stage that brings rows into their order; none where they are in it. */
export function sortStages({ isSorted, order, unique }: Transformation): Stage[] {
  const keys = completeOrder(order, unique);
  return isSorted ? [] : [{ $sort: compileOrder(keys) }];
}

/** The stages for so many rows behind so many. */
export function pageStages(skip: number, top: number): Stage[] {
  if (top === 0) return [{ $match: NOTHING }];
  return [...(skip > 0 ? [{ $skip: skip }] : []), { $limit: top }];
}

/** The stages that make one document of all rows: so many of them behind so many, in their order, and how many there are. */
export function totalingPageStages(transformation: Transformation, skip: number, top: number): Stage[] {
  const keys = completeOrder(transformation.order, transformation.unique);
  const total = { total: { $sum: 1 } };
  if (top === 0) return [{ $group: { _id: null, ...total } }];
  const first = { n: skip + top };
  const page = transformation.isSorted
    ? { $firstN: { ...first, input: '$$ROOT' } }
    : { $topN: { ...first, sortBy: compileOrder(keys), output: '$$ROOT' } };
  return [{ $group: { _id: null, ...total, page } }, { $project: { total: 1, page: { $slice: ['$page', skip, top] } } }];
}

/** A projection without these paths. */
export function without(hidden: readonly string[]): Record<string, 0> {
  return Object.fromEntries(hidden.map((path) => [path, 0 as const]));
}
