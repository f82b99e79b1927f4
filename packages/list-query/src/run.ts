import { canonical } from './canonical.js';
import type { CountCache } from './count-cache.js';
import { writeCursor, type CursorSecret } from './cursor.js';
import { Problems } from './errors.js';
import { expandRecords, type RelatedSources } from './expand.js';
import type { StoreFilter } from './filter.js';
import { createGate, type Gate } from './gate.js';
import { sortValues } from './keyset.js';
import { LIMITS } from './limits.js';
import { readParameters, type ParameterPairs } from './parameters.js';
import { planList, type RecordPlan, type TransformationPlan } from './plan.js';
import type { ListResource } from './resource.js';
import { showRecord, showRow, type Show, type StoredDocument } from './show.js';
import { limitStore, type LimitedStore, type ListCollection, type RowsAndTotal } from './store.js';
import type { Shape } from './transformation.js';

/** What a query is run over, and for whom. */
export interface ListQueryOptions {
  collection: ListCollection;
  /** A filter of the store that every row must match: what this caller may see. Default everything. */
  scope?: StoreFilter;
  /** Signs `$nextToken`. Without it there is none. */
  cursorSecret?: CursorSecret;
  /** What `$nextToken` is bound to instead of `scope`, where that has more in it than whose list it is: the time, say. */
  cursorScope?: StoreFilter;
  /** The collections of the relations, by path. */
  relations?: RelatedSources;
  /** Makes of a stored record what callers get. Default: `id` for `_id`, dates as ISO strings. */
  show?: Show;
  /** Keeps counts that are slow to make. Default: each page counts. */
  countCache?: CountCache;
  /** The longest that one operation may run in the store. Default 5,000 ms. */
  maxTimeMs?: number;
  /** Lets transformations in. Default: four at once in this process, so that the store always has room for other work. */
  gate?: Gate;
}

/** The rows of one page. `total` is exact, over all pages; `count` is that of this page. */
export interface ListResult<Row = Record<string, unknown>> {
  total: number;
  count: number;
  value: Row[];
  /** Leads to the rows behind these; absent where there are none, and on transformed rows. */
  nextToken?: string;
}

const DEFAULT_MAX_TIME_MS = 5000;

/** The embedded engine works on eight commands at once; a process takes half of them for transformations. */
const transformations = createGate({ atOnce: 4 });

/**
 * Answers a list query (decisions L1 to L6).
 * @throws ListQueryError (400) for wrong parameters, ListTimeLimitError (503) for a query that takes too long
 */
export async function runListQuery<Row = Record<string, unknown>>(
  resource: ListResource,
  pairs: ParameterPairs,
  options: ListQueryOptions,
): Promise<ListResult<Row>> {
  const problems = new Problems();
  const given = readParameters(pairs, problems);
  const plan = planList(resource, { ...given, top: given.top ?? LIMITS.defaultTop }, options, problems);
  return runPlan(plan, resource, options) as Promise<ListResult<Row>>;
}

/** Runs what was planned. */
export function runPlan(
  plan: RecordPlan | TransformationPlan,
  resource: ListResource,
  options: ListQueryOptions,
): Promise<ListResult<unknown>> {
  const { collection, maxTimeMs = DEFAULT_MAX_TIME_MS, gate = transformations } = options;
  const store = limitStore(collection, maxTimeMs, plan.kind === 'records' ? '$orderby' : '$apply');
  return plan.kind === 'records'
    ? runRecords(plan, resource, store, options)
    : gate(() => runTransformation(plan, store, options));
}

async function runRecords(
  plan: RecordPlan,
  resource: ListResource,
  store: LimitedStore,
  options: ListQueryOptions,
): Promise<ListResult<unknown>> {
  const { top, order } = plan;
  const { countCache, cursorSecret } = options;
  const { rows: found, total } = await readPage(plan, resource, store, countCache);
  const records = found.slice(0, top);
  const last = found.length > top ? records.at(-1) : undefined;
  const value = await showRecords(records, plan, options);
  const nextToken =
    last && cursorSecret !== undefined ? writeCursor(sortValues(last, order), plan.binding, cursorSecret) : undefined;
  return { total, count: value.length, value, ...(nextToken !== undefined && { nextToken }) };
}

/** The page, with one row more if there is one: it tells whether there is a next page. With the total in one command, unless that is known. */
async function readPage(
  { top, skip, sort, projection, pageFilter, filter }: RecordPlan,
  { name }: ListResource,
  store: LimitedStore,
  countCache: CountCache | undefined,
): Promise<RowsAndTotal> {
  const page = { sort, skip, limit: top + 1, projection };
  if (!countCache) return store.findAndCount(pageFilter, page, filter);
  let both: Promise<RowsAndTotal> | undefined;
  const counting = countCache.count(name, canonical(filter), async () => {
    both = store.findAndCount(pageFilter, page, filter);
    return (await both).total;
  });
  const [total, rows] = await Promise.all([counting, both?.then((read) => read.rows) ?? store.find(pageFilter, page)]);
  return { rows, total };
}

async function runTransformation(
  plan: TransformationPlan,
  store: LimitedStore,
  options: ListQueryOptions,
): Promise<ListResult<unknown>> {
  const { rows, total } = await transform(plan, store);
  const { show = showRecord } = options;
  const value =
    plan.shape.kind === 'records'
      ? await showRecords(rows, plan, options)
      : rows.map((row) => showComputed(row, plan.shape, show));
  return { total, count: value.length, value };
}

async function transform({ pipelines, skip, top }: TransformationPlan, store: LimitedStore) {
  switch (pipelines.kind) {
    case 'one': {
      const [row] = await store.aggregate(pipelines.row);
      return { rows: [row ?? pipelines.ofNothing].slice(skip, skip + top), total: 1 };
    }
    case 'together': {
      const [both] = (await store.aggregate(pipelines.both)) as { page?: StoredDocument[]; total: number }[];
      return { rows: both?.page ?? [], total: both?.total ?? 0 };
    }
    default: {
      const [rows, counted] = await Promise.all([store.aggregate(pipelines.page), store.aggregate(pipelines.total)]);
      return { rows, total: (counted[0] as { total: number } | undefined)?.total ?? 0 };
    }
  }
}

async function showRecords(
  records: StoredDocument[],
  { expansions }: RecordPlan | TransformationPlan,
  { show = showRecord, relations = {}, maxTimeMs = DEFAULT_MAX_TIME_MS }: ListQueryOptions,
): Promise<unknown[]> {
  const shown = records.map((record) => show(record));
  await expandRecords(records, shown, expansions, { sources: relations, maxTimeMs });
  return shown;
}

function showComputed(row: StoredDocument, shape: Shape, show: Show): unknown {
  if (shape.kind === 'records') return show(row);
  const { top } = shape;
  if (!top) return showRow(row);
  const { top: kept, ...own } = row;
  return { ...showRow(own), top: (kept as StoredDocument[]).map((inner) => showComputed(inner, top, show)) };
}
