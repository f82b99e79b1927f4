import { randomUUID } from 'node:crypto';
import { keyOf } from './canonical.js';
import type { CountCache } from './count-cache.js';
import { writeCursor, type CursorSecret } from './cursor.js';
import { Problems, problemOf } from './errors.js';
import { expandRecords, type Expansion, type RelatedSources } from './expand.js';
import type { StoreFilter } from './filter.js';
import { createGate, type Caller, type Gate } from './gate.js';
import { isFitting, sortValues } from './keyset.js';
import { LIMITS } from './limits.js';
import { readParameters, type ParameterPairs } from './parameters.js';
import { bindList, planBound, type BoundList, type RecordPlan, type TransformationPlan } from './plan.js';
import type { ListResource } from './resource.js';
import { refuseLongScan } from './scan.js';
import { countedTo, readRanked, withoutRank, type Found, type Search } from './search.js';
import { showRecord, showRow, type Show, type StoredDocument } from './show.js';
import { limitStore, type LimitedStore, type ListCollection, type PageOptions, type RowsAndTotal } from './store.js';
import type { Shape } from './transformation.js';

/** The data a query runs over, and its caller. */
export interface ListQueryOptions {
  collection: ListCollection;
  /** A store filter that every row must match: what this caller may see. Default everything. */
  scope?: StoreFilter;
  /** Signs `$nextToken`. Without it no tokens are made. */
  cursorSecret?: CursorSecret;
  /** Binds `$nextToken` instead of `scope`, where that also contains something that changes, such as the time. */
  cursorScope?: StoreFilter;
  /** Answers `$search`. */
  search?: Search;
  /** The collections of the relations, by path. */
  relations?: RelatedSources;
  /** Turns a stored record into its shown form. Default: `id` for `_id`, dates as ISO strings; with `$select` only its fields. */
  show?: Show;
  /** Adds to the shown rows what needs another query, for all at once, while related records are read. */
  complete?(): Promise<void>;
  /** Caches slow counts. Default: each page counts. */
  countCache?: CountCache;
  /** Longest time for one store operation. Default 5,000 ms. */
  maxTimeMs?: number;
  /**
   * Admits commands that read more than one page by an index. Default: two at once in this process, so that the store
   * has room for other work.
   */
  gate?: Gate;
  /** The caller to the gate. Default: each query is a caller of its own. */
  caller?: Caller;
  /**
   * Whether an index yields the page, in order, without reading more rows than it has and passes over; more than 1,000
   * of these wait nevertheless. Default: true without `$apply` and without functions of text.
   */
  isOnePage?: boolean;
  /** Ends the query's work in the store when nobody waits for the answer any more. */
  signal?: AbortSignal;
}

/** The rows of one page. `total` is the exact number over all pages; `count` is that of this page. */
export interface ListResult<Row = Record<string, unknown>> {
  total: number;
  count: number;
  value: Row[];
  /** Leads to the next page; absent on the last page, and for transformed rows. */
  nextToken?: string;
}

const DEFAULT_MAX_TIME_MS = 5000;

/** Two of the eight commands that the embedded engine runs concurrently. */
const ofProcess = createGate({ atOnce: 2 });
/** Bytes of related records that a caller gets without a pause, and per millisecond beyond. */
const FREE_BYTES = 64 * 1024;
const BYTES_A_MS = 2000;
/**
 * Embeds related records for one answer per caller at a time. After a large one the caller pauses, because it has yet to be checked and
 * sent. No limit across callers: one may be waiting for the store and would block the others.
 */
const expanding = createGate({
  atOnce: Infinity,
  rest: 3,
  restFreeMs: 10,
  restAfter: (bytes) => Math.max(0, (bytes as number) - FREE_BYTES) / BYTES_A_MS,
});

interface Turns {
  /** Runs one costly command when it is the caller's turn. */
  admit<T>(command: () => Promise<T>): Promise<T>;
  /** Embeds related records when it is the caller's turn. @param work returns their size, in bytes */
  expand(work: () => Promise<number>): Promise<unknown>;
}

/** A query's access to the store. */
interface Run extends ListQueryOptions, Turns {
  store: LimitedStore;
}

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
  const bound = bindList(resource, { ...given, top: given.top ?? LIMITS.defaultTop }, problems);
  const plan = planBound(resource, bound, { ...options, found: await foundBy(options, resource, bound) });
  return runPlan(plan, resource, options) as Promise<ListResult<Row>>;
}

/** What `$search` finds; undefined without it. */
export async function foundBy(
  { search }: ListQueryOptions,
  resource: ListResource,
  { given }: BoundList,
): Promise<Found | undefined> {
  if (given.search === undefined) return undefined;
  if (!search) throw problemOf('$search', 'is not allowed');
  return search(resource, given.search);
}

/** Runs a plan. */
export async function runPlan(
  plan: RecordPlan | TransformationPlan,
  resource: ListResource,
  options: ListQueryOptions,
): Promise<ListResult<unknown>> {
  const { collection, maxTimeMs = DEFAULT_MAX_TIME_MS, signal } = options;
  const parameter = plan.kind === 'records' ? '$orderby' : '$apply';
  const run: Run = { ...options, ...turnsOf(options), store: limitStore(collection, { maxTimeMs, signal }, parameter) };
  const { scan } = plan;
  if (scan) await run.admit(() => refuseLongScan(scan, run.store));
  return plan.kind === 'records' ? runRecords(plan, resource, run) : runTransformation(plan, run);
}

/** How the caller's costly work waits for its turn. */
function turnsOf({ gate = ofProcess, caller, signal }: Pick<ListQueryOptions, 'gate' | 'caller' | 'signal'>): Turns {
  const known = caller ?? { key: randomUUID(), isAnonymous: false };
  return { admit: (command) => gate(known, command, signal), expand: (work) => expanding(known, work, signal) };
}

async function runRecords(plan: RecordPlan, resource: ListResource, run: Run): Promise<ListResult<unknown>> {
  // a token, too, may have a page pass over many rows
  const { top, skip } = plan;
  const { isOnePage = plan.scan === undefined, cursorSecret } = run;
  const { rows: found, total } = await (plan.rank !== undefined
    ? run.admit(() => readBest(plan, resource, run))
    : isOnePage && skip <= LIMITS.quickSkip
      ? readQuickly(plan, resource, run)
      : run.admit(() => readPage(plan, resource, run)));
  const records = found.slice(0, top);
  const hasMore = found.length > top && top > 0;
  const value = await showRecords(plan.rank === undefined ? records : records.map(withoutRank), plan, run);
  const nextToken = hasMore && cursorSecret !== undefined ? nextTokenOf(plan, records, cursorSecret) : undefined;
  return { total, count: value.length, value, ...(nextToken !== undefined && { nextToken }) };
}

/**
 * The token of the next page, which begins after the last row or, where no comparison can find that row or its values
 * are too long for a token, after skipping as many rows as this page has (decisions H20).
 */
function nextTokenOf(plan: RecordPlan, records: readonly StoredDocument[], secret: CursorSecret): string | undefined {
  const { order, after, skip, top, binding } = plan;
  const counted = countedTo(records, plan);
  const values = counted === undefined ? sortValues(records.at(-1) as object, order) : undefined;
  const token = values && writeCursor({ after: values, skip: 0 }, binding, secret);
  if (token !== undefined) return token;
  const next = counted === undefined ? { after, skip: skip + top } : { skip: counted };
  return next.skip > LIMITS.skip ? undefined : writeCursor(next, binding, secret);
}

/** Reads one row more than the page has, which tells whether there is a next page. */
function pageOf({ top, skip, sort, projection }: RecordPlan): Required<PageOptions> {
  return { sort, skip, limit: top + 1, projection };
}

/** A page by an index. Its total may count all rows: a large count waits at the gate. */
async function readQuickly(plan: RecordPlan, resource: ListResource, run: Run): Promise<RowsAndTotal> {
  const { countCache, gate = ofProcess } = run;
  const key = keyOf(plan.filter);
  if (!countCache?.isLarge(resource.name, key)) return readPage(plan, resource, run);
  // a shared count serves all who ask meanwhile, so it has a caller and a lifetime of its own
  const shared = { key: `count ${resource.name} ${key}`, isAnonymous: false };
  const { store, collection, maxTimeMs = DEFAULT_MAX_TIME_MS } = run;
  const counting = limitStore(collection, { maxTimeMs }, '$filter');
  const [rows, total] = await Promise.all([
    store.find(plan.pageFilter, pageOf(plan)),
    countCache.count(resource.name, key, () => gate(shared, () => counting.count(plan.filter)), true),
  ]);
  return { rows, total };
}

/** A page with its total in one command, unless the total is cached. */
async function readPage(plan: RecordPlan, { name }: ListResource, { store, countCache }: Run): Promise<RowsAndTotal> {
  const { pageFilter, filter } = plan;
  const page = pageOf(plan);
  if (!countCache) return store.findAndCount(pageFilter, page, filter);
  let both: Promise<RowsAndTotal> | undefined;
  const counting = countCache.count(name, keyOf(filter), async () => {
    both = store.findAndCount(pageFilter, page, filter);
    return (await both).total;
  });
  if (both) return both;
  // the count may belong to a caller that left before it was done
  const total = await counting.catch(() => undefined);
  if (total === undefined) return store.findAndCount(pageFilter, page, filter);
  return { rows: await store.find(pageFilter, page), total };
}

/** A page by rank. */
function readBest(plan: RecordPlan, { name }: ListResource, { store, countCache }: Run): Promise<RowsAndTotal> {
  const count = () => store.count(plan.filter);
  return readRanked(plan, store, () => (countCache ? countCache.count(name, keyOf(plan.filter), count) : count()));
}

async function runTransformation(plan: TransformationPlan, run: Run): Promise<ListResult<unknown>> {
  const { rows, total } = await run.admit(() => transform(plan, run.store));
  if (plan.shape.kind === 'records') {
    const value = await showRecords(rows, plan, run);
    return { total, count: value.length, value };
  }
  const { show = showRecord, complete } = run;
  const value = rows.filter((row) => isFitting(row, plan.fields)).map((row) => showComputed(row, plan.shape, show));
  await complete?.();
  return { total, count: value.length, value };
}

/** Runs the pipelines one after the other: the gate admitted one command. */
async function transform({ pipelines, skip, top }: TransformationPlan, store: LimitedStore): Promise<RowsAndTotal> {
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
      const rows = await store.aggregate(pipelines.page);
      const isLastPage = rows.length < top && (rows.length > 0 || skip === 0);
      if (isLastPage) return { rows, total: skip + rows.length };
      const [counted] = await store.aggregate(pipelines.total);
      return { rows, total: (counted as { total: number } | undefined)?.total ?? 0 };
    }
  }
}

async function showRecords(
  records: StoredDocument[],
  { expansions, selected }: RecordPlan | TransformationPlan,
  run: Run,
): Promise<unknown[]> {
  const { show = showRecord } = run;
  const all = records.map((record) => show(record, selected));
  const isShown = (_: unknown, n: number) => all[n] !== undefined;
  const shown = all.filter(isShown);
  await Promise.all([run.complete?.(), embedRelated(records.filter(isShown), shown, expansions, run)]);
  return shown;
}

type Reading = Pick<ListQueryOptions, 'relations' | 'maxTimeMs' | 'signal'>;

async function embedRelated(
  records: readonly StoredDocument[],
  shown: readonly unknown[],
  expansions: readonly Expansion[],
  { relations = {}, maxTimeMs = DEFAULT_MAX_TIME_MS, signal, admit, expand }: Reading & Turns,
): Promise<void> {
  const reading = { sources: relations, maxTimeMs, signal, admit };
  if (expansions.length > 0) await expand(() => expandRecords(records, shown, expansions, reading));
}

/**
 * Embeds related records in one shown record, as `$expand` does in the rows of a list.
 * @param record what is stored of it, with the fields that lead to the related records
 * @throws ListQueryError when the answer would hold too much
 */
export async function expandOne(
  record: object,
  shown: object,
  expansions: readonly Expansion[],
  options: Reading & Pick<ListQueryOptions, 'gate' | 'caller'>,
): Promise<void> {
  await embedRelated([record as StoredDocument], [shown], expansions, { ...options, ...turnsOf(options) });
}

function showComputed(row: StoredDocument, shape: Shape, show: Show): unknown {
  if (shape.kind === 'records') return show(row);
  const { top } = shape;
  if (!top) return showRow(row);
  const { top: kept, ...own } = row;
  return {
    ...showRow(own),
    top: (kept as StoredDocument[]).map((inner) => showComputed(inner, top, show)).filter((one) => one !== undefined),
  };
}
