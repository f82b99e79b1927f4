import type { QueryParameters } from '@tandem/client';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ListField } from '../reference/list-fields.js';
import { wordsOf } from '../ui/words.js';
import type { Input } from './call.js';
import type { RecordList } from './definitions.js';

/** What a list shows, as its address says it. Empty texts ask for nothing. */
export interface ListState {
  /** Words to search for. */
  q: string;
  /** A `$filter`. */
  filter: string;
  /** An `$orderby`. */
  order: string;
  /** The field whose values make groups. */
  group: string;
  /** What is told of each group: `$count`, or `sum` or `average` of a field. */
  measure: string;
}

/** The state of the list on this page, kept in its address. */
export function useListState(): [ListState, (change: Partial<ListState>) => void] {
  const { q = '', filter = '', order = '', group = '', measure = '' } = useSearch({ strict: false }) as Partial<ListState>;
  const go = useNavigate();
  const change = (wanted: Partial<ListState>) =>
    void go({ to: '.', search: (present: object) => ({ ...present, ...wanted }), replace: true });
  return [{ q, filter, order, group, measure }, change];
}

/** The parameters of the list query that a state stands for, within the filter of what is given. */
export function parametersOf(
  { q, filter, order }: ListState,
  { list, given, relations }: { list: RecordList; given: Input; relations: readonly string[] },
): QueryParameters {
  const words = list.isSearched ? wordsOf(q) : '';
  const { $filter: within = '' } = given as { $filter?: string };
  return {
    ...(filter !== '' && { $filter: within === '' ? filter : `(${within}) and (${filter})` }),
    ...(words !== '' && { $search: words }),
    ...(order !== '' && { $orderby: order }),
    ...(relations.length > 0 && { $expand: relations.join(',') }),
  };
}

/** The value of each group's row. */
export const MEASURED = 'value';

/** The field with the currency of what is measured: `price.currency` of `price.amount`; undefined where no field has one. */
export function currencyOf({ measure }: ListState, fields: readonly ListField[]): string | undefined {
  const [, field] = measure.split(' ');
  const currency = field?.replace(/\w+$/, 'currency');
  return fields.find(({ name, parameters }) => name === currency && parameters.has('$apply'))?.name;
}

/** The transformation that a state's grouping stands for; with a currency's field its answer has the groups of each currency. */
export function applyOf({ group, measure }: ListState, currency: string | undefined): string {
  const [by = '', field] = measure.split(' ');
  const value = field === undefined ? `$count as ${MEASURED}` : `${field} with ${by} as ${MEASURED}`;
  const keys = [...new Set([group, currency ?? group])].join(', ');
  const highest = `orderby(${MEASURED} desc) then top(50)`;
  const each = currency === undefined ? highest : `groupby((${currency}), ${highest}) then orderby(${currency})`;
  return `groupby((${keys}), aggregate(${value})) then ${each}`;
}
