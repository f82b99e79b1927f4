import type { Definitions, Kind, RecordList } from './definitions.js';

export interface Tab {
  /** Its part of the address. */
  name: string;
  list: RecordList;
  input: Record<string, unknown>;
}

/** The lists that belong to a record: those below its address, and those that can be narrowed to it. */
export function tabsOf(kind: Kind, id: string, { lists }: Definitions): Tab[] {
  const below = lists.filter(({ params }) => params.length === 1 && params[0] === kind.param);
  const schemas = new Set(below.map(({ schema }) => schema));
  const narrowed = lists.filter(
    ({ params, narrowing, schema, isQueried }) =>
      params.length === 0 && isQueried && narrowing.includes(kind.param) && (schema === undefined || !schemas.has(schema)),
  );
  const fields = lists.filter(
    (list) =>
      list.params.length === 0 &&
      list.isQueried &&
      !narrowed.includes(list) &&
      !schemas.has(list.schema) &&
      list.schema !== kind.schema &&
      list.fields.some(({ name }) => name === kind.param || name === `${kind.param}s`) &&
      !list.narrowing.includes(kind.param),
  );
  return [
    ...below.map((list) => ({ list, input: { [kind.param]: id } })),
    ...narrowed.map((list) => ({ list, input: { [kind.param]: id } })),
    ...fields.map((list) => {
      const field = list.fields.find(({ name }) => name === kind.param || name === `${kind.param}s`)?.name ?? kind.param;
      return { list, input: { $filter: `${field} eq '${id}'` } };
    }),
  ].map((tab) => ({ ...tab, name: tabName(tab.list) }));
}

/** `organizations.listChangeRequests` as `change-requests`, `orders.listOfOrganization` as `orders`. */
function tabName({ operation: { id } }: RecordList): string {
  const [service = '', procedure = ''] = id.split('.');
  const words = procedure.replace(/^list/, '').replace(/Of[A-Z]\w*$/, '') || service;
  return words.replaceAll(/([a-z])([A-Z])/g, '$1-$2').toLowerCase();
}
