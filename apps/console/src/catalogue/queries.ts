import {
  average,
  count,
  aggregate,
  groupBy,
  max,
  min,
  queryOf,
  rowsOf,
  type QueryParameters,
  type TandemClient,
} from '@tandem/client';
import { numberOf } from '../texts/formats.js';
import { wordsOf } from '../ui/words.js';
import type { Order, ViewState } from './view-state.js';

/** Products loaded at once. */
const PAGE = 24;
/** Most groups in a chart. */
const GROUPS = 100;

/** The values of a group's rows. */
const VALUES = {
  count: count(),
  average: average('price.amount'),
  lowest: min('price.amount'),
  highest: max('price.amount'),
};

/** The products that pass the filters. */
function filtered({ words, category, shop, currency, min: from, max: to }: ViewState) {
  let query = queryOf('products.list');
  const text = wordsOf(words);
  if (text !== '') query = query.search(text);
  if (category !== '') query = query.where('categoryIds', 'eq', category);
  if (shop !== '') query = query.where('organizationId', 'eq', shop);
  if (currency !== '') query = query.where('price.currency', 'eq', currency);
  const [lowest, highest] = [numberOf(from), numberOf(to)];
  if (Number.isFinite(lowest)) query = query.where('price.amount', 'ge', lowest);
  if (Number.isFinite(highest)) query = query.where('price.amount', 'le', highest);
  return query;
}

const IN_ORDER: Record<
  Exclude<Order, 'best'>,
  readonly [name: 'createdAt' | 'name' | 'price.amount', direction: 'asc' | 'desc']
> = {
  newest: ['createdAt', 'desc'],
  name: ['name', 'asc'],
  cheapest: ['price.amount', 'asc'],
  dearest: ['price.amount', 'desc'],
};

/** A page of products. */
export function productsQuery(state: ViewState, nextToken?: string) {
  const { order } = state;
  const all = filtered(state).top(PAGE);
  const query = order === 'best' ? all : all.orderBy(...IN_ORDER[order]);
  return (nextToken === undefined ? query : query.after(nextToken)).parameters;
}

/** A group's charted values in one currency; null where its products have no price. */
export interface GroupRow {
  /** The group's id or code; null for products without one. */
  key: string | null;
  currency: string | null;
  count: number;
  average: number | null;
  lowest: number | null;
  highest: number | null;
}

/** A query, and how to read its rows. */
interface GroupQuery {
  parameters: QueryParameters;
  ask(client: TandemClient): Promise<GroupRow[]>;
}

/** One row per currency; `keyOf` says of which group. */
function queryOfCurrencies(state: ViewState, keyOf: (currency: string | null) => string | null): GroupQuery {
  const { parameters } = filtered(state).apply(groupBy(['price.currency'], aggregate(VALUES))).top(GROUPS); // prettier-ignore
  return {
    parameters,
    ask: async ({ api }) =>
      rowsOf(await api.products.list.query(parameters), parameters).value.map(({ price: { currency }, ...values }) => {
        return { key: keyOf(currency), currency, ...values };
      }),
  };
}

/** One row per shop and currency. */
function queryOfShops(state: ViewState): GroupQuery {
  const { parameters } = filtered(state).apply(groupBy(['organizationId', 'price.currency'], aggregate(VALUES))).top(GROUPS); // prettier-ignore
  return {
    parameters,
    ask: async ({ api }) =>
      rowsOf(await api.products.list.query(parameters), parameters).value.map(({ organizationId, price, ...values }) => {
        return { key: organizationId, currency: price.currency, ...values };
      }),
  };
}

/**
 * The queries whose rows are the groups. Prices are grouped by currency too, because sums over several are meaningless.
 * A product may be in several categories, so each category has a query of its own; one request sends all.
 */
export function groupQueries(state: ViewState, categoryIds: readonly string[]): GroupQuery[] {
  if (state.group === 'category') return categoryIds.map((id) => queryOfCurrencies({ ...state, category: id }, () => id));
  return [state.group === 'shop' ? queryOfShops(state) : queryOfCurrencies(state, (currency) => currency)];
}

/** A query as a REST URL, for use elsewhere. */
export function addressOf(parameters: QueryParameters): string {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return `/products?${pairs.join('&')}`;
}

/** The same, decoded for reading. */
export function readableAddressOf(parameters: QueryParameters): string {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}=${String(value)}`);
  return `GET /products?${pairs.join('\n  &')}`;
}
