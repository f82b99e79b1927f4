import {
  and,
  average,
  count,
  field,
  aggregate,
  groupBy,
  max,
  min,
  queryOf,
  rowsOf,
  type QueryParameters,
  type TandemClient,
} from '@tandem/client';
import { startsWith } from '../ui/starts-with.js';
import type { Order, ViewState } from './view-state.js';

/** How many products are loaded at once. */
const PAGE = 24;
/** Most groups that are charted. */
const GROUPS = 100;

/** What a group's rows are made of. */
const VALUES = {
  count: count(),
  average: average('price.amount'),
  lowest: min('price.amount'),
  highest: max('price.amount'),
};

/** A number that somebody has typed; undefined for what is none. */
function numberOf(text: string): number | undefined {
  const value = Number(text.replace(',', '.'));
  return text.trim() === '' || !Number.isFinite(value) ? undefined : value;
}

/** The products that the filters leave. */
function filtered({ name, category, shop, currency, min: from, max: to }: ViewState) {
  let query = queryOf('products.list');
  if (name !== '') {
    const [first, behind] = startsWith(name);
    query = query.where(and(field('name').ge(first), field('name').lt(behind)));
  }
  if (category !== '') query = query.where('categoryIds', 'eq', category);
  if (shop !== '') query = query.where('organizationId', 'eq', shop);
  if (currency !== '') query = query.where('price.currency', 'eq', currency);
  const [lowest, highest] = [numberOf(from), numberOf(to)];
  if (lowest !== undefined) query = query.where('price.amount', 'ge', lowest);
  if (highest !== undefined) query = query.where('price.amount', 'le', highest);
  return query;
}

const IN_ORDER: Record<Order, readonly [name: 'createdAt' | 'name' | 'price.amount', direction: 'asc' | 'desc']> = {
  newest: ['createdAt', 'desc'],
  name: ['name', 'asc'],
  cheapest: ['price.amount', 'asc'],
  dearest: ['price.amount', 'desc'],
};

/** A page of the products themselves. */
export function productsQuery(state: ViewState, nextToken?: string) {
  const query = filtered(state).orderBy(...IN_ORDER[state.order]).top(PAGE); // prettier-ignore
  return (nextToken === undefined ? query : query.after(nextToken)).parameters;
}

/** What is charted of one group, in one currency; null where its products have no price. */
export interface GroupRow {
  /** The id or the code that the group is of; null is those that have none. */
  key: string | null;
  currency: string | null;
  count: number;
  average: number | null;
  lowest: number | null;
  highest: number | null;
}

/** A query, and what to do with its rows. */
interface GroupQuery {
  parameters: QueryParameters;
  ask(client: TandemClient): Promise<GroupRow[]>;
}

/** A row for each currency; of which group that is says `keyOf`. */
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

/** A row for each shop and currency. */
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
 * The queries whose rows are the groups. Prices are grouped by their currency too: sums over two of them mean nothing. A product is in several
 * categories: each of these is a query of its own, and all of them one request.
 */
export function groupQueries(state: ViewState, categoryIds: readonly string[]): GroupQuery[] {
  if (state.group === 'category') return categoryIds.map((id) => queryOfCurrencies({ ...state, category: id }, () => id));
  return [state.group === 'shop' ? queryOfShops(state) : queryOfCurrencies(state, (currency) => currency)];
}

/** A query as the REST face takes it, for who wants to ask it elsewhere. */
export function addressOf(parameters: QueryParameters): string {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return `/products?${pairs.join('&')}`;
}

/** The same, to be read. */
export function readableAddressOf(parameters: QueryParameters): string {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}=${String(value)}`);
  return `GET /products?${pairs.join('\n  &')}`;
}
