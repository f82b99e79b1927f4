import { compileApply, untransformed } from './apply.js';
import { bindCondition } from './bind.js';
import { canonical } from './canonical.js';
import { readCursor, type Cursor, type CursorSecret } from './cursor.js';
import { NextTokenError, Problems, problemOf } from './errors.js';
import { bindExpand, type Expansion } from './expand.js';
import type { Fields } from './fields.js';
import { allOf, compileFilter, type StoreFilter } from './filter.js';
import { rowsAfter } from './keyset.js';
import { bindOrder, compileOrder, completeOrder, type SortKey } from './order.js';
import type { ListParameters } from './parameters.js';
import { parseApply } from './parse-apply.js';
import { parseFilter } from './parse-condition.js';
import { parseExpand } from './parse-expand.js';
import { parseOrder } from './parse-order.js';
import type { ListResource } from './resource.js';
import { BY_RANK, checkSearch, type Found } from './search.js';
import { scannedBy, type TextScan } from './scan.js';
import { bindSelect, leadingTo, parseSelect, rowFieldsOf, selectedOnly, type RowFields } from './select.js';
import {
  pageStages,
  sortStages,
  totalingPageStages,
  without,
  type Shape,
  type Stage,
  type Transformation,
} from './transformation.js';

/** Excludes deleted records. */
const LIVE: StoreFilter = { deletedAt: null };

/** A page of records, read and counted in their collection. */
export interface RecordPlan {
  kind: 'records';
  /** All rows of the list: scope, `$filter`, not deleted. */
  filter: StoreFilter;
  /** The same, restricted to rows after the cursor. */
  pageFilter: StoreFilter;
  /** The cursor's sort values, if any. */
  after?: Cursor['after'];
  /** What `$search` sorts by, and the rows after the cursor by it. */
  rank?: unknown;
  afterRank?: StoreFilter | undefined;
  /** What is never read. */
  hidden?: Readonly<Record<string, 0>>;
  sort: Record<string, 1 | -1>;
  order: readonly SortKey[];
  projection: Readonly<Record<string, 0 | 1>>;
  /** The fields of `$select`. */
  selected: ReadonlySet<string> | undefined;
  skip: number;
  top: number;
  expansions: Expansion[];
  /** Text that it looks for without an index. */
  scan: TextScan | undefined;
  /** Identifies the list that its cursors are bound to. */
  readonly binding: string;
}

/** A page of rows computed by `$apply`. */
export interface TransformationPlan {
  kind: 'transformation';
  shape: Shape;
  /** The fields by which its rows can be queried. */
  fields: Fields;
  /**
   * `split`: separate pipelines for page and total. `together`: one pipeline for both. `one`: a single computed row.
   */
  pipelines:
    | { kind: 'split'; page: Stage[]; total: Stage[] }
    | { kind: 'together'; both: Stage[] }
    | { kind: 'one'; row: Stage[]; ofNothing: Record<string, 0 | null> };
  scan: TextScan | undefined;
  skip: number;
  top: number;
  expansions: Expansion[];
  selected?: undefined;
}

export interface PlanSettings {
  /** A store filter that every row must match, whatever the caller asks for. */
  scope?: StoreFilter | undefined;
  cursorSecret?: CursorSecret | undefined;
  /** What `$search` finds. */
  found?: Found | undefined;
  /** Binds cursors instead of `scope`, where that also contains something that changes, such as the time. */
  cursorScope?: StoreFilter | undefined;
}

/** Checked parameters: the part of a plan that is the same for every caller. */
export interface BoundList {
  given: ListParameters;
  filter: StoreFilter | undefined;
  /** Where `$filter` looks for text without an index, what else it asks of the rows. */
  scanned: StoreFilter | undefined;
  expansions: Expansion[];
  /** The fields of `$select`; undefined without it. */
  selected: ReadonlySet<string> | undefined;
  projection: Readonly<Record<string, 0 | 1>>;
  /** The rows of `$apply`; undefined without it. */
  transformed: Transformation | undefined;
  /** The complete order of records, in the store's form. */
  order: readonly SortKey[];
  sort: Record<string, 1 | -1>;
}

/** The parameters that change more than the place in the list. */
const ASKED = ['filter', 'search', 'orderby', 'expand', 'select', 'apply'] as const satisfies (keyof ListParameters)[];
/** Cached result for requests without parameters, which are the most common, by resource. */
const unasked = new WeakMap<ListResource, BoundList>();

/**
 * Checks the parameters against the resource.
 * @param rows what `$select` may name; by default what `showRecord` shows
 * @throws ListQueryError with the first problem of each parameter
 */
export function bindList(
  resource: ListResource,
  given: ListParameters,
  problems = new Problems(),
  rows: RowFields = rowFieldsOf(resource),
): BoundList {
  const isUnasked = ASKED.every((name) => given[name] === undefined);
  const cached = isUnasked ? unasked.get(resource) : undefined;
  if (given.nextToken !== undefined) checkNextToken(given, problems);
  if (cached) {
    problems.raise();
    return { ...cached, given };
  }
  const parsed = <T>(text: string | undefined, read: (text: string) => T) =>
    text === undefined ? undefined : problems.attempt(() => read(text));
  const condition = parsed(given.filter, (text) => bindCondition(parseFilter(text), resource.filterable, '$filter'));
  const filter = condition && compileFilter(condition);
  const scanned = condition && scannedBy(condition);
  parsed(given.search, (text) => checkSearch(text, resource));
  const expansions = parsed(given.expand, (text) => bindExpand(parseExpand(text), resource)) ?? [];
  const selected = parsed(given.select, (text) => bindSelect(parseSelect(text), rows, expansions));
  const transformed = parsed(given.apply, (text) => compileApply(parseApply(text), resource));
  const visible = transformed ?? (given.apply === undefined ? untransformed(resource) : undefined);
  const order = visible && parsed(given.orderby, (text) => bindOrder(parseOrder(text), visible.fields, '$orderby'));
  if (transformed?.shape.kind === 'rows' && given.expand !== undefined)
    problems.add(problemOf('$expand', "cannot be used together with a '$apply' that computes rows"));
  if (given.select !== undefined && given.apply !== undefined)
    problems.add(problemOf('$select', "cannot be used together with '$apply'"));
  problems.raise();

  if (transformed && order) Object.assign(transformed, { order, isSorted: false });
  const complete = completeOrder(order ?? resource.defaultOrder, untransformed(resource).unique);
  const sort = compileOrder(complete);
  // cursors need the values that sort, relations the ids that lead to them
  const others = [...Object.keys(sort), ...leadingTo(expansions)];
  const projection = selected ? selectedOnly(resource, selected, rows, others) : resource.projection;
  const bound = { given, filter, scanned, expansions, selected, projection, transformed, order: complete, sort };
  if (isUnasked) unasked.set(resource, bound);
  return bound;
}

function checkNextToken({ skip, apply }: ListParameters, problems: Problems): void {
  if (skip !== undefined) problems.add(problemOf('$skip', "cannot be used together with '$nextToken'"));
  if (apply !== undefined) problems.add(problemOf('$apply', "cannot be used together with '$nextToken'"));
}

/**
 * Checks the parameters against the resource and compiles them, without asking the store.
 * @throws ListQueryError with the first problem of each parameter
 */
export function planList(
  resource: ListResource,
  given: ListParameters,
  settings: PlanSettings,
  problems = new Problems(),
): RecordPlan | TransformationPlan {
  return planBound(resource, bindList(resource, given, problems), settings);
}

/**
 * The plan for one caller. A `$top` of 0 reads nothing.
 * @throws ListQueryError for a `$nextToken` of another query
 */
export function planBound(
  resource: ListResource,
  bound: BoundList,
  { scope, cursorSecret, cursorScope = scope, found }: PlanSettings,
): RecordPlan | TransformationPlan {
  const { given, expansions, selected, projection, transformed } = bound;
  const live = resource.softDelete ? LIVE : undefined;
  const all = allOf(scope, live, bound.filter, found?.filter);
  const scan = scanOf(bound, (asked) => allOf(scope, live, asked, found?.filter));
  const page = { skip: given.skip ?? 0, top: given.top ?? 0, expansions };
  if (transformed) {
    const { shape, fields } = transformed;
    return { kind: 'transformation', shape, fields, pipelines: compilePipelines(all, transformed, page), scan, ...page };
  }
  const isRanked = found?.rank !== undefined && given.orderby === undefined;
  const order = isRanked ? [BY_RANK, ...bound.order] : bound.order;
  const sort = isRanked ? compileOrder(order) : bound.sort;
  const bindingOf = () =>
    canonical([resource.name, Object.entries(sort), cursorScope, bound.filter, ...(found ? [given.search] : [])]);
  const cursor: Cursor = given.nextToken === undefined ? page : cursorOf(given.nextToken, bindingOf(), cursorSecret, order);
  const { after } = cursor;
  return {
    kind: 'records',
    filter: all,
    pageFilter: after && !isRanked ? allOf(all, rowsAfter(order, after)) : all,
    after,
    ...(isRanked && { rank: found.rank, afterRank: after && rowsAfter(order, after), hidden: resource.projection }),
    sort,
    order,
    projection,
    scan,
    selected,
    // computed lazily: most pages write no cursor
    get binding() {
      return bindingOf();
    },
    ...page,
    skip: cursor.skip,
  };
}

function scanOf(
  { filter, scanned, transformed }: BoundList,
  rows: (asked: StoreFilter | undefined) => StoreFilter,
): TextScan | undefined {
  if (scanned) return { parameter: '$filter', among: rows(scanned) };
  return transformed?.isScan ? { parameter: '$apply', among: rows(filter) } : undefined;
}

function cursorOf(token: string, binding: string, secret: CursorSecret | undefined, order: readonly SortKey[]): Cursor {
  if (secret === undefined) throw problemOf('$nextToken', 'is not allowed');
  const cursor = readCursor(token, binding, secret);
  if (cursor.after && cursor.after.length !== order.length) throw new NextTokenError();
  return cursor;
}

function compilePipelines(
  all: StoreFilter,
  transformed: ReturnType<typeof compileApply>,
  { skip, top }: { skip: number; top: number },
): TransformationPlan['pipelines'] {
  const { stages, shape, ofNothing, hidden } = transformed;
  const made = [{ $match: all }, ...stages];
  if (ofNothing) return { kind: 'one', row: made, ofNothing };
  if (shape.kind === 'rows') return { kind: 'together', both: [...made, ...totalingPageStages(transformed, skip, top)] };
  const page = [...made, ...sortStages(transformed), ...pageStages(skip, top), { $project: without(hidden) }];
  return { kind: 'split', page, total: [...unsorted(made), { $count: 'total' }] };
}

/** The stages without sorts that only decide which rows are kept, not how many. */
function unsorted(stages: readonly Stage[]): Stage[] {
  const decided = stages.findLastIndex((stage) => !('$sort' in stage) && !('$limit' in stage));
  return stages.filter((stage, n) => n <= decided || !('$sort' in stage));
}
