import { planList, type ListResource } from '@tandem/list-query';
import type { IndexDefinition } from '@tandem/storage';

export interface ListIndexSettings {
  /** The fields that every list of the resource is within, each by one value: those of its scope. */
  within?: readonly string[];
  /** Orders beside the default one for which nothing is sorted in memory, as `$orderby` writes them. */
  orders?: readonly string[];
}

const promised = new Map<ListResource, Required<ListIndexSettings>>();

/** What was promised of a resource's orders: for the test that explains its queries. */
export function promisesOf(resource: ListResource): Required<ListIndexSettings> | undefined {
  return promised.get(resource);
}

/**
 * The indexes of a model that serve a list: its default order, other promised ones, and its filters. Within a scope filters look at that
 * scope's records alone; without one each field that can be filtered has an index, which is also read for the total.
 */
export function listIndexes(resource: ListResource, { within = [], orders = [] }: ListIndexSettings = {}): IndexDefinition[] {
  promised.set(resource, { within, orders });
  const scope = Object.fromEntries(within.map((field) => [field, 1 as const]));
  const standing = sortOf(resource);
  const indexes: IndexDefinition[] = [
    { keys: { ...scope, ...standing }, serves: `the list of ${resource.name}, in its default order, and its total` },
    ...orders.map((order) => ({ keys: { ...scope, ...sortOf(resource, order) }, serves: `${resource.name} by ${order}` })),
  ];
  if (within.length > 0) return indexes;
  const leading = new Set(indexes.map(({ keys }) => Object.keys(keys)[0]));
  for (const { path, filter } of resource.fields.values()) {
    if (path === '_id' || !filter || leading.has(path)) continue;
    indexes.push({ keys: { [path]: 1, ...standing }, serves: `${resource.name} filtered by ${path}, in the default order` });
  }
  return indexes;
}

function sortOf(resource: ListResource, orderby?: string): Record<string, 1 | -1> {
  const plan = planList(resource, { orderby, top: 1 }, {});
  return plan.kind === 'records' ? plan.sort : {};
}
