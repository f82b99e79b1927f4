import { problemOf } from './errors.js';
import type { StoreFilter } from './filter.js';
import { LIMITS } from './limits.js';
import type { SortKey } from './order.js';
import type { RecordPlan } from './plan.js';
import type { ListResource } from './resource.js';
import type { StoredDocument } from './show.js';
import { withTotal, type LimitedStore, type RowsAndTotal } from './store.js';

/** What a search finds. */
export interface Found {
  filter: StoreFilter;
  /** An expression of the store, a number: the least is the best. Without it the list keeps its order. */
  rank?: unknown;
}

/** Finds records of a resource by the words of a text. */
export type Search = (resource: ListResource, text: string) => Found | Promise<Found>;

/** Temporary field with the rank. */
const RANK = '__rank';
/** The first key of the order of what was found. */
export const BY_RANK: SortKey = { field: { name: RANK, path: RANK, type: 'number' }, direction: 1 };

const WORDS = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;

/** @throws ListQueryError for a text that cannot be searched for */
export function checkSearch(text: string, { searched }: ListResource): string {
  const { least, most, words } = LIMITS.search;
  const refuse = (what: string) => problemOf('$search', what);
  if (searched.length === 0) throw refuse('is not allowed');
  const { length } = Array.from(text);
  if (length < least) throw refuse(`must NOT have fewer than ${least} characters`);
  if (length > most) throw refuse(`must NOT have more than ${most} characters`);
  const found = text.normalize('NFKC').match(WORDS)?.length ?? 0;
  if (found === 0) throw refuse('must have a letter or digit');
  if (found > words) throw refuse(`must NOT have more than ${words} words`);
  return text;
}

/**
 * A page of what was found, best first, with the number of all. Of very many, the first by the index are ranked; the
 * others follow in the order of the index, and their pages are found by counting.
 * @param count counts all, which is needed where there are more than are ranked: up to then one command does both
 */
export async function readRanked(plan: RecordPlan, store: LimitedStore, count: () => Promise<number>): Promise<RowsAndTotal> {
  const { filter, skip, top, projection } = plan;
  const { ranked } = LIMITS.search;
  if (top === 0) return { rows: [], total: await count() };
  const best = skip < ranked ? await readFirst(plan, store) : { rows: [], total: ranked + 1 };
  if (best.total <= ranked) return best;
  const total = await count();
  const missing = top + 1 - best.rows.length;
  if (missing <= 0 || total <= ranked) return { rows: best.rows, total };
  const behind = { $skip: Math.max(skip, ranked) };
  const others = await store.aggregate([{ $match: filter }, behind, { $limit: missing }, { $project: projection }]);
  return { rows: [...best.rows, ...others], total };
}

/** The page of those that are ranked, and their number: one more if there are others. */
async function readFirst(plan: RecordPlan, store: LimitedStore): Promise<RowsAndTotal> {
  const { filter, skip, top, sort, projection, rank, afterRank, hidden } = plan;
  const { ranked } = LIMITS.search;
  const isChoice = Object.values(projection).includes(1);
  const best = [
    { $limit: ranked },
    { $set: { [RANK]: rank } },
    { $project: hidden },
    ...(afterRank ? [{ $match: afterRank }] : []),
    { $sort: sort },
    { $skip: skip },
    { $limit: top + 1 },
    ...(isChoice ? [{ $project: { ...projection, [RANK]: 1 } }] : []),
  ];
  const both = await store.aggregate([
    { $match: filter },
    { $limit: ranked + 1 },
    { $facet: { best, total: [{ $count: 'total' }] } },
    // as rows, because all in one document may be too large for the store
    { $project: { row: { $concatArrays: ['$best', '$total'] } } },
    { $unwind: '$row' },
    { $replaceRoot: { newRoot: '$row' } },
  ]);
  return withTotal(both);
}

/** How many rows must be counted to find the last of these again; undefined where its rank finds it. */
export function countedTo(records: readonly StoredDocument[], { skip, rank }: RecordPlan): number | undefined {
  if (rank === undefined || records.at(-1)?.[RANK] !== undefined) return undefined;
  return Math.max(skip, LIMITS.search.ranked) + records.filter((record) => record[RANK] === undefined).length;
}

/** The record without its rank. */
export function withoutRank({ [RANK]: _, ...record }: StoredDocument): StoredDocument {
  return record;
}
