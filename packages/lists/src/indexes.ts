import { LIMITS, planList, type ListRequest, type ListResource, type StoreFilter } from '@tandem/list-query';
import { searchPath, type IndexDefinition } from '@tandem/storage';

export interface ListIndexSettings {
  /** The fields that form the scope of every list of the resource; each is matched by one value. */
  within?: readonly string[];
  /**
   * Fields that form the scope of some of its lists, or that callers filter by constantly. Each gets an index in the default
   * order.
   */
  by?: readonly string[];
  /** Orders, as `$orderby` writes them, that an index must serve within the scope besides the default order. */
  orders?: readonly string[];
}

interface Promises extends Required<ListIndexSettings> {
  /** The sorts, as JSON, that an index serves: by a field of `by`, and within the scope. */
  servedBy: ReadonlySet<string>;
  servedWithin: ReadonlySet<string>;
}
/** By the fields of a resource, which a list with relations shares with it. */
const promised = new Map<ListResource['fields'], Promises>();

/** The indexes of a resource that has the fields of another and more of them, in the scopes of its lists. */
export function indexesLike(resource: ListResource, other: ListResource): IndexDefinition[] {
  const { within, by, orders } = promised.get(other.fields) ?? {};
  return listIndexes(resource, { ...(within && { within }), ...(by && { by }), ...(within?.length && orders && { orders }) });
}

/** The orders promised for a resource. Used by the test that explains its queries. */
export function promisesOf(resource: ListResource): Promises | undefined {
  return promised.get(resource.fields);
}

/**
 * The indexes that serve a list: its default order, its promised orders and its filters. Within a scope, filters and other orders
 * scan only that scope's records. A list without a scope would scan the whole collection, so each sortable field gets an index
 * that serves both directions, and each filterable field gets one that also serves the total.
 */
export function listIndexes(
  resource: ListResource,
  { within = [], by = [], orders = [] }: ListIndexSettings = {},
): IndexDefinition[] {
  const fields = [...resource.fields.values()].filter(({ path }) => path !== '_id');
  const sorts =
    within.length > 0 ? orders : fields.filter(({ sort }) => sort).flatMap(({ name }) => [`${name} asc`, `${name} desc`]);
  const servedWithin = readingsOf([undefined, ...sorts].map((order) => sortOf(resource, order)));
  promised.set(resource.fields, { within, by, orders: sorts, servedBy: readingsOf([sortOf(resource)]), servedWithin });
  const scope = Object.fromEntries(within.map((field) => [field, 1 as const]));
  const standing = sortOf(resource);
  const indexes = new Map<string, IndexDefinition>();
  const add = (keys: Record<string, 1 | -1>, serves: string) => {
    // MongoDB reads an index in either direction
    const isThere = indexes.has(JSON.stringify(keys)) || indexes.has(JSON.stringify({ ...scope, ...reversed(keys, within) }));
    if (!isThere) indexes.set(JSON.stringify(keys), { keys, serves });
  };
  add({ ...scope, ...standing }, `the list of ${resource.name}, in its default order, and its total`);
  for (const field of by) add({ [field]: 1, ...standing }, `the list of ${resource.name} within ${field}, and its total`);
  for (const order of sorts) add({ ...scope, ...sortOf(resource, order) }, `${resource.name} by ${order}`);
  for (const { path } of (resource.whole ?? resource).open.values())
    add({ [`${path}.$**`]: 1 }, `${resource.name} filtered by a key of ${path}`);
  for (const field of resource.searched) add({ ...scope, [searchPath(field)]: 1 }, `the search of ${field} in ${resource.name}`);
  if (within.length > 0) return [...indexes.values()];
  const leading = new Set([...indexes.values()].map(({ keys }) => Object.keys(keys)[0]));
  for (const { path, filter } of fields) {
    if (filter && !leading.has(path))
      add({ [path]: 1, ...standing }, `${resource.name} filtered by ${path}, in the default order`);
  }
  return [...indexes.values()];
}

function reversed(keys: Record<string, 1 | -1>, within: readonly string[]): Record<string, 1 | -1> {
  const sorted = Object.entries(keys).filter(([path]) => !within.includes(path));
  return Object.fromEntries(sorted.map(([path, direction]) => [path, direction === 1 ? -1 : 1]));
}

function sortOf(resource: ListResource, orderby?: string): Record<string, 1 | -1> {
  const plan = planList(resource, { orderby, top: 1 }, {});
  return plan.kind === 'records' ? plan.sort : {};
}

/**
 * Whether an index yields one page of the list without scanning rows beyond the page and those it skips: unfiltered, without a
 * search, within its scope or an indexed field, in a promised order. All other reads wait at the gate (decisions H1).
 */
export function isOnePage(resource: ListResource, scope: StoreFilter, { bound }: ListRequest): boolean {
  const { given, filter = {}, transformed, sort } = bound;
  const promises = promised.get(resource.fields);
  if (!promises || transformed || given.search !== undefined || (given.skip ?? 0) > LIMITS.quickSkip) return false;
  const equal = { ...scope, ...filter };
  const paths = Object.keys(equal);
  if (!Object.values(equal).every(isOneValue)) return false;
  const { within, by, servedBy, servedWithin } = promises;
  const wanted = JSON.stringify(sort);
  if (paths.length === 1 && by.includes(paths[0] as string)) return servedBy.has(wanted);
  return paths.length === within.length && within.every((path) => paths.includes(path)) && servedWithin.has(wanted);
}

function isOneValue(condition: unknown): boolean {
  if (typeof condition !== 'object' || condition === null) return true;
  return Object.keys(condition).length === 1 && '$eq' in condition;
}

/** Both directions of each sort: MongoDB reads an index in either. */
function readingsOf(sorts: readonly Record<string, 1 | -1>[]): Set<string> {
  return new Set(sorts.flatMap((sort) => [JSON.stringify(sort), JSON.stringify(reversed(sort, []))]));
}
