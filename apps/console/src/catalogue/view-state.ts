import { useNavigate, useSearch } from '@tanstack/react-router';
import { wordsOf } from '../ui/words.js';

export const GROUPINGS = [
  ['category', 'Category'],
  ['shop', 'Shop'],
  ['currency', 'Currency'],
] as const;
export type Grouping = (typeof GROUPINGS)[number][0];

export const MEASURES = [
  ['count', 'Products'],
  ['average', 'Average price'],
  ['lowest', 'Lowest price'],
  ['highest', 'Highest price'],
] as const;
export type Measure = (typeof MEASURES)[number][0];

const ORDERS = [
  ['newest', 'Newest'],
  ['name', 'Name'],
  ['cheapest', 'Price, lowest first'],
  ['dearest', 'Price, highest first'],
] as const;
const BEST_FIRST = ['best', 'Best match'] as const;
export type Order = (typeof ORDERS)[number][0] | (typeof BEST_FIRST)[0];

/** The orders that may be chosen, the default first. */
export const ordersOf = (words: string): [Option<Order>, ...Option<Order>[]] =>
  wordsOf(words) === '' ? [...ORDERS] : [BEST_FIRST, ...ORDERS];

const FILTERS = ['words', 'category', 'shop', 'currency', 'min', 'max'] as const;
export type Filter = (typeof FILTERS)[number];

/** One text per filter. */
function filtersOf(text: (filter: Filter) => string): Record<Filter, string> {
  return Object.fromEntries(FILTERS.map((filter) => [filter, text(filter)])) as Record<Filter, string>;
}
export const NO_FILTERS = filtersOf(() => '');

/** Whether any filter is set. */
export const hasFilters = (state: ViewState): boolean => FILTERS.some((filter) => state[filter] !== '');

/** The filters and options of the catalogue. Empty texts filter nothing. */
export interface ViewState extends Record<Filter, string> {
  group: Grouping;
  measure: Measure;
  order: Order;
}

type Option<Value> = readonly [value: Value, text: string];

/** The named option, or the first. */
function oneOf<Value extends string>(options: readonly [Option<Value>, ...Option<Value>[]], text: string | undefined): Value {
  const [value] = options.find(([one]) => one === text) ?? options[0];
  return value;
}

/** Kept in the address, so that it can be bookmarked and shared. */
export function useViewState(): [ViewState, (change: Partial<ViewState>) => void] {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const go = useNavigate();
  const state: ViewState = {
    ...filtersOf((filter) => search[filter] ?? ''),
    group: oneOf(GROUPINGS, search['group']),
    measure: oneOf(MEASURES, search['measure']),
    order: oneOf(ordersOf(search['words'] ?? ''), search['order']),
  };
  function change(wanted: Partial<ViewState>): void {
    void go({ to: '.', search: (present: object) => ({ ...present, ...wanted }), replace: true });
  }
  return [state, change];
}
