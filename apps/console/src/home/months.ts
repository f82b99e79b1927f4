import { aggregate, count, groupBy, queryOf, rowsOf, sum, type TandemClient } from '@tandem/client';

const MONTHS = 12;

export interface Month {
  /** Its beginning. */
  first: Date;
  currencies: { currency: string | null; orders: number; revenue: number }[];
}

/** Orders and revenue of the last twelve months, by currency. One request asks for all of them. */
export async function loadMonths({ api }: TandemClient, ask: { organizationId?: string } = {}): Promise<Month[]> {
  const now = new Date();
  const first = (back: number) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1));
  return Promise.all(
    Array.from({ length: MONTHS }, async (_, index): Promise<Month> => {
      const back = MONTHS - 1 - index;
      const query = queryOf('orders.list')
        .where('createdAt', 'ge', first(back).toISOString())
        .where('createdAt', 'lt', first(back - 1).toISOString())
        .where('status', 'ne', 'cancelled');
      const { parameters } = query.apply(groupBy(['currency'], aggregate({ orders: count(), revenue: sum('total') }))).top(20); // prettier-ignore
      const rows = rowsOf(await api.orders.list.query({ ...parameters, ...ask }), parameters).value;
      return {
        first: first(back),
        currencies: rows.map(({ currency, orders, revenue }) => ({ currency, orders, revenue: revenue ?? 0 })),
      };
    }),
  );
}
