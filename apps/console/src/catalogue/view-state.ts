import { useNavigate, useSearch } from '@tanstack/react-router';
import { t } from '../texts/texts.js';
import { wordsOf } from '../ui/words.js';

export const GROUPINGS = ['category', 'shop', 'currency'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export const MEASURES = ['count', 'average', 'lowest', 'highest'] as const;
export type Measure = (typeof MEASURES)[number];

const ORDERS = ['newest', 'name', 'cheapest', 'dearest'] as const;
export type Order = (typeof ORDERS)[number] | 'best';

/** The orders that may be chosen, the default first. */
export const ordersOf = (words: string): readonly [Order, ...Order[]] => (wordsOf(words) === '' ? ORDERS : ['best', ...ORDERS]);

/** Options with their texts, for a choice. */
export const optionsOf = <Value extends Grouping | Measure | Order>(
  values: readonly Value[],
  kind: 'groupings' | 'measures' | 'orders',
) => values.map((value) => [value, t(`catalogue.${kind}.${value}` as 'catalogue.orders.best')] as const);

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

/** The named option, or the first. */
function oneOf<Value extends string>(options: readonly [Value, ...Value[]], text: string | undefined): Value {
  return options.find((one) => one === text) ?? options[0];
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
