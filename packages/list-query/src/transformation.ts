import { bindCondition, type BoundCondition } from './bind.js';
import type { Fields } from './fields.js';
import type { StoreFilter } from './filter.js';
import { compileOrder, completeOrder, type SortKey } from './order.js';
import { isAboutText } from './scan.js';
import type { Condition } from './tree.js';

/** A store aggregation stage, as plain data. */
export type Stage = Record<string, unknown>;

/** The rows at some place of a chain: stored records, or computed rows, which may hold others in `top`. */
export type Shape = { kind: 'records' } | { kind: 'rows'; top?: Shape };

/** The state of a chain of transformations: each step reads the visible fields and sets those for the next. */
export interface Transformation {
  parameter: string;
  stages: Stage[];
  fields: Fields;
  shape: Shape;
  /** The order of the rows: as requested, or the default. */
  order: readonly SortKey[];
  /** Keys that make every order total; empty for a single row. */
  unique: readonly SortKey[];
  /**
   * Whether an `orderby` was given since the last grouping: each grouping allows one, because a sort may touch all rows
   * (decisions H1).
   */
  isOrdered: boolean;
  /** Whether the stages have already sorted the rows that way. */
  isSorted: boolean;
  /** Whether a condition on records looks for text without an index. */
  isScan: boolean;
  /** Stored paths that are never sent, while the rows are records. */
  hidden: readonly string[];
  /** The single row for empty input, while the last stages are those of an `aggregate`. */
  ofNothing?: Record<string, 0 | null> | undefined;
}

/** Matches nothing; the store reads a limit of 0 as no limit. */
export const NOTHING: StoreFilter = { $nor: [{}] };

/** Checks a condition against the fields that are visible now. @throws ListQueryError */
export function bindHere(state: Transformation, condition: Condition): BoundCondition {
  const bound = bindCondition(condition, state.fields, state.parameter);
  if (state.shape.kind === 'records' && isAboutText(bound)) state.isScan = true;
  return bound;
}

/** The stage that sorts the rows; none when they are sorted. */
export function sortStages({ isSorted, order, unique }: Transformation): Stage[] {
  const keys = completeOrder(order, unique);
  return isSorted ? [] : [{ $sort: compileOrder(keys) }];
}

/** The stages that skip and limit rows. */
export function pageStages(skip: number, top: number): Stage[] {
  if (top === 0) return [{ $match: NOTHING }];
  return [...(skip > 0 ? [{ $skip: skip }] : []), { $limit: top }];
}

/** The stages that produce one document with a page of rows, in order, and the total. */
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

/** A projection that excludes these paths. */
export function without(hidden: readonly string[]): Record<string, 0> {
  return Object.fromEntries(hidden.map((path) => [path, 0 as const]));
}
