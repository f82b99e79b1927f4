import { planList, type ListResource } from '@tandem/list-query';
import type { IndexDefinition } from '@tandem/storage';

export interface ListIndexSettings {
  /** The fields that every list of the resource is within, each by one value: those of its scope. */
  within?: readonly string[];
  /** Fields that only some of its lists are within, or that are asked for all day: their records in the default order. */
  by?: readonly string[];
  /** Within a scope: orders beside the default one for which nothing is sorted in memory, as `$orderby` writes them. */
  orders?: readonly string[];
}

type Promises = Required<ListIndexSettings>;
const promised = new Map<ListResource, Promises>();

/** What was promised of a resource's orders: for the test that explains its queries. */
export function promisesOf(resource: ListResource): Promises | undefined {
  return promised.get(resource);
}

/**
 * The indexes of a model that serve a list: its default order, other promised ones, and its filters. Within a scope filters and other orders
 * look at that scope's records alone. Without one they would look at all there are: so each field that can be sorted by has an index for
 * either direction, and each that can be filtered has one that is also read for the total.
 */
export function listIndexes(
  resource: ListResource,
  { within = [], by = [], orders = [] }: ListIndexSettings = {},
): IndexDefinition[] {
  const fields = [...resource.fields.values()].filter(({ path }) => path !== '_id');
  const sorts =
    within.length > 0 ? orders : fields.filter(({ sort }) => sort).flatMap(({ name }) => [`${name} asc`, `${name} desc`]);
  promised.set(resource, { within, by, orders: sorts });
  const scope = Object.fromEntries(within.map((field) => [field, 1 as const]));
  const standing = sortOf(resource);
  const indexes = new Map<string, IndexDefinition>();
  const add = (keys: Record<string, 1 | -1>, serves: string) => {
    // an index is read in either direction
    const isThere = indexes.has(JSON.stringify(keys)) || indexes.has(JSON.stringify({ ...scope, ...reversed(keys, within) }));
    if (!isThere) indexes.set(JSON.stringify(keys), { keys, serves });
  };
  add({ ...scope, ...standing }, `the list of ${resource.name}, in its default order, and its total`);
  for (const field of by) add({ [field]: 1, ...standing }, `the list of ${resource.name} within ${field}, and its total`);
  for (const order of sorts) add({ ...scope, ...sortOf(resource, order) }, `${resource.name} by ${order}`);
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
