import { compileApply, untransformed } from './apply.js';
import { bindCondition } from './bind.js';
import { canonical } from './canonical.js';
import { readCursor, type CursorSecret } from './cursor.js';
import { NextTokenError, Problems, problemOf } from './errors.js';
import { bindExpand, type Expansion } from './expand.js';
import { allOf, compileFilter, type StoreFilter } from './filter.js';
import { rowsAfter, type SortValue } from './keyset.js';
import { bindOrder, compileOrder, completeOrder, type SortKey } from './order.js';
import type { ListParameters } from './parameters.js';
import { parseApply } from './parse-apply.js';
import { parseFilter } from './parse-condition.js';
import { parseExpand } from './parse-expand.js';
import { parseOrder } from './parse-order.js';
import type { ListResource } from './resource.js';
import { pageStages, sortStages, totalingPageStages, without, type Shape, type Stage } from './transformation.js';

/** A page of records, found and counted in their collection. */
export interface RecordPlan {
  kind: 'records';
  /** All rows of the list: scope, `$filter`, and what is not deleted. */
  filter: StoreFilter;
  /** The same behind the cursor. */
  pageFilter: StoreFilter;
  sort: Record<string, 1 | -1>;
  order: readonly SortKey[];
  projection: Record<string, 0>;
  skip: number;
  top: number;
  expansions: Expansion[];
  /** What a cursor of this list is bound to. */
  binding: string;
}

/** A page of what `$apply` makes. */
export interface TransformationPlan {
  kind: 'transformation';
  shape: Shape;
  /** `split`: one pipeline for the page, one for the total. `together`: one gives both. `one`: the row is computed, and there is no other. */
  pipelines:
    | { kind: 'split'; page: Stage[]; total: Stage[] }
    | { kind: 'together'; both: Stage[] }
    | { kind: 'one'; row: Stage[]; ofNothing: Record<string, 0 | null> };
  skip: number;
  top: number;
  expansions: Expansion[];
}

export interface PlanSettings {
  /** A filter of the store that every row must match, whatever the caller asks for. */
  scope?: StoreFilter | undefined;
  cursorSecret?: CursorSecret | undefined;
}

/**
 * Checks the parameters against the resource and compiles them; asks nothing of the store.
 * @throws ListQueryError with the first problem of each parameter
 */
export function planList(
  resource: ListResource,
  given: ListParameters,
  { scope, cursorSecret }: PlanSettings,
  problems = new Problems(),
): RecordPlan | TransformationPlan {
  const parsed = <T>(text: string | undefined, read: (text: string) => T) =>
    text === undefined ? undefined : problems.attempt(() => read(text));
  const filter = parsed(given.filter, (text) => compileFilter(bindCondition(parseFilter(text), resource.fields, '$filter')));
  const expansions = parsed(given.expand, (text) => bindExpand(parseExpand(text), resource)) ?? [];
  const transformed = parsed(given.apply, (text) => compileApply(parseApply(text), resource));
  const visible = transformed ?? (given.apply === undefined ? untransformed(resource) : undefined);
  const order = visible && parsed(given.orderby, (text) => bindOrder(parseOrder(text), visible.fields, '$orderby'));
  if (transformed?.shape.kind === 'rows' && given.expand !== undefined)
    problems.add(problemOf('$expand', "cannot be used together with a '$apply' that computes rows"));
  if (given.nextToken !== undefined && cursorSecret === undefined) problems.add(problemOf('$nextToken', 'is not allowed'));
  problems.raise();

  const all = allOf(scope, resource.softDelete ? { deletedAt: null } : undefined, filter);
  const page = { skip: given.skip ?? 0, top: given.top ?? 0, expansions };
  if (transformed) {
    if (order) Object.assign(transformed, { order, isSorted: false });
    return { kind: 'transformation', shape: transformed.shape, pipelines: compilePipelines(all, transformed, page), ...page };
  }
  const complete = completeOrder(order ?? resource.defaultOrder, untransformed(resource).unique);
  const sort = compileOrder(complete);
  const binding = canonical([resource.name, Object.entries(sort), all]);
  const after = given.nextToken === undefined ? undefined : cursorValues(given.nextToken, binding, cursorSecret, complete);
  const pageFilter = after ? allOf(all, rowsAfter(complete, after)) : all;
  return {
    kind: 'records',
    filter: all,
    pageFilter,
    sort,
    order: complete,
    projection: without(resource.hidden),
    binding,
    ...page,
  };
}

function cursorValues(token: string, binding: string, secret: CursorSecret | undefined, order: readonly SortKey[]): SortValue[] {
  const values = secret === undefined ? [] : readCursor(token, binding, secret);
  if (values.length !== order.length) throw new NextTokenError();
  return values;
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
  return { kind: 'split', page, total: [...made, { $count: 'total' }] };
}
