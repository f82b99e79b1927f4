import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Collection } from 'mongodb';
import { beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import { withoutOffsets } from '../test/arbitraries.js';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import { productDocuments, products } from '../test/products.js';
import { aggregate, and, average, count, countDistinct, field, filter, groupBy, listQuery, max, min, not, or, orderBy, sum, top, type FieldsOf, type RowOf } from './builder.js'; // prettier-ignore
import { parseApply, parseFilter, printApply, printFilter, runListQuery } from './index.js';

interface Product {
  id: string;
  name: string | null;
  price?: number | null;
}
interface Category {
  id: string;
  name: string;
}
interface Shape {
  fields: FieldsOf<typeof products>;
  row: Product;
  relations: { category: Category | null };
}
const query = listQuery<Shape>();

let collection: Collection<Stored>;
beforeAll(async () => {
  collection = await filled(await openTestDatabase(), 'products', productDocuments(60));
});

/** Runs a built query; the rows have the builder's type. */
async function run<Parameters extends object>(parameters: Parameters): Promise<RowOf<Parameters>[]> {
  const { value } = await runListQuery<RowOf<Parameters>>(products, Object.entries(parameters), { collection });
  return value;
}

describe('a built query', () => {
  it('prints its conditions, order and page', () => {
    const { parameters } = query
      .where('price', 'gt', 20)
      .where(or(field('name').eq("O'Brien"), and(field('active').ne(null), not(field('tags').in('red', 'blue')))))
      .where(field('releasedAt').lt(new Date(0)))
      .orderBy('brand.name')
      .orderBy('price', 'desc')
      .expand('category')
      .select('name', 'price')
      .skip(10)
      .top(5);
    expect(parameters).toEqual({
      $filter:
        "price gt 20 and (name eq 'O''Brien' or active ne null and not (tags in ('red', 'blue'))) and releasedAt lt 1970-01-01T00:00:00.000Z",
      $orderby: 'brand.name asc, price desc',
      $expand: 'category',
      $select: 'name,price',
      $skip: 10,
      $top: 5,
    });
    expectTypeOf<RowOf<typeof parameters>>().toEqualTypeOf<
      Pick<Product & { category: Category | null }, 'id' | 'name' | 'price' | 'category'>
    >();
  });

  it('compares parts of a text, and ignores case on request', () => {
    const { parameters } = query
      .where(field('name').contains("O'B"))
      .where(or(field('tags').startsWith('re'), field('name').toLower().endsWith('a')))
      .where(field('brand.name').toLower().in('acme', null));
    expect(parameters.$filter).toBe(
      "contains(name, 'O''B') and (startswith(tags, 're') or endswith(tolower(name), 'a')) and tolower(brand.name) in ('acme', null)",
    );
  });

  it('holds the same tree that its text parses to', () => {
    const conditions = [
      ...(['eq', 'ne', 'gt', 'ge', 'lt', 'le'] as const).map((operator) => field('price')[operator](-1.5)),
      field('name').in("O'Brien", null),
      field('active').eq(true),
      field('name').contains("it's"),
      field('name').toLower().ge('a'),
      field('releasedAt').lt(new Date(0)),
      and(field('stock').gt(1)),
      not(or(field('stock').gt(1), and(field('stock').lt(1), field('name').ne('x')))),
    ];
    for (const { tree } of conditions) expect(withoutOffsets(parseFilter(printFilter(tree)))).toEqual(tree);
    const steps = [
      filter(field('stock').gt(1)),
      groupBy(['status'], aggregate({ n: count(), s: sum('price') }), orderBy('price'), top(2)),
    ].map(({ tree }) => tree);
    expect(withoutOffsets(parseApply(printApply(steps)))).toEqual(steps);
  });

  it('is never changed by later calls', () => {
    const cheap = query.where('price', 'lt', 5);
    expect(cheap.where('price', 'gt', 1).after('token').parameters).toEqual({
      $filter: 'price lt 5 and price gt 1',
      $nextToken: 'token',
    });
    expect(cheap.parameters).toEqual({ $filter: 'price lt 5' });
    expect(query.parameters).toEqual({});
  });

  it('transforms: rows have the resulting keys and values', async () => {
    const { parameters } = query
      .where('price', 'ge', 0)
      .apply(
        groupBy(
          ['status', 'brand.name'],
          filter(field('active').eq(true)),
          aggregate({ n: count(), most: max('price'), first: min('releasedAt'), names: countDistinct('name') }),
          filter(field('n').gt(0)),
          orderBy('price', 'desc', ['name', 'asc']),
          top(2),
        ),
        orderBy('n', 'desc', ['status', 'asc']),
        filter(or(field('first').ge('2024-01-01'), field('brand.name').eq(null))),
        top(4),
      )
      .where('n', 'lt', 100)
      .orderBy('most');
    expect(parameters).toEqual({
      $filter: 'price ge 0',
      $apply:
        'groupby((status, brand.name), filter(active eq true) then aggregate($count as n, price with max as most, releasedAt with min as first, ' +
        'name with countdistinct as names) then filter(n gt 0) then orderby(price desc, name asc) then top(2)) then orderby(n desc, status asc) ' +
        "then filter(first ge '2024-01-01' or brand.name eq null) then top(4) then filter(n lt 100)",
      $orderby: 'most asc',
    });
    expectTypeOf<RowOf<typeof parameters>>().toEqualTypeOf<{
      status: string | null;
      brand: { name: string | null };
      n: number;
      most: number | null;
      first: string | null;
      names: number;
      top: { id: string; name: string | null; price?: number | null }[];
    }>();
    const rows = await run(parameters);
    expect(rows.length).toBeGreaterThan(0);
    expect(Object.keys(rows[0] ?? {}).sort()).toEqual(['brand', 'first', 'most', 'n', 'names', 'status', 'top']);
  });

  it('aggregates to one row, and groups groups', async () => {
    const one = query.apply(aggregate({ n: count(), total: sum('price'), mean: average('stock') })).parameters;
    expectTypeOf<RowOf<typeof one>>().toEqualTypeOf<{ n: number; total: number | null; mean: number | null }>();
    expect((await run(one))[0]).toMatchObject({ n: expect.any(Number), total: expect.any(Number) });

    const groups = query.apply(groupBy(['status', 'active'], aggregate({ n: count() })), groupBy(['active'], aggregate({ most: max('n') }), top(1))).parameters; // prettier-ignore
    expectTypeOf<RowOf<typeof groups>>().toEqualTypeOf<{
      active: boolean | null;
      most: number | null;
      top: { status: string | null; active: boolean | null; n: number }[];
    }>();
    expect(await run(groups)).toHaveLength(3);
  });

  it('keeps an order that was given before a transformation', () => {
    expect(query.orderBy('price', 'desc').apply(top(3)).parameters).toEqual({ $apply: 'orderby(price desc) then top(3)' });
  });

  it('cannot express numbers that are not finite', () => {
    expect(() => field('price').gt(NaN)).toThrow(new TypeError('A condition cannot compare with NaN'));
    expect(() => field('price').gt(Infinity)).toThrow(TypeError);
    expect(query.where('price', 'eq', -0).parameters).toEqual({ $filter: 'price eq 0' });
  });
});

/** Each of these is a type error, and is also refused by the server. */
export function wrongQueries() {
  // @ts-expect-error -- no such field
  query.where('nope', 'eq', 1);
  // @ts-expect-error -- a number is not text
  query.where('name', 'eq', 1);
  // @ts-expect-error -- text is not a date of this field
  query.where('price', 'eq', new Date());
  // @ts-expect-error -- no such field in a condition
  query.where(or(field('price').gt(1), field('nope').gt(1)));
  // @ts-expect-error -- text for a number in a condition
  query.where(not(field('price').gt('1')));
  // @ts-expect-error -- a number is not text
  query.where(field('price').contains('1'));
  // @ts-expect-error -- a number has no lower case
  query.where(field('price').toLower().eq('1'));
  // @ts-expect-error -- text contains text
  query.where(field('name').contains(1));
  // @ts-expect-error -- a list cannot be sorted by
  query.orderBy('tags');
  // @ts-expect-error -- no such relation
  query.expand('brand');
  // @ts-expect-error -- no such field to select
  query.select('nope');
  // @ts-expect-error -- no longer visible after the aggregate
  query.apply(aggregate({ n: count() }), filter(field('price').gt(1)));
  // @ts-expect-error -- no longer visible after the group
  query.apply(groupBy(['status']), orderBy('price'));
  // @ts-expect-error -- a list cannot be grouped by
  query.apply(groupBy(['tags']));
  // @ts-expect-error -- no average of text
  query.apply(aggregate({ a: average('name') }));
  // @ts-expect-error -- no sum of a date
  query.apply(groupBy(['status'], aggregate({ s: sum('releasedAt') })));
  // @ts-expect-error -- a condition on the group's row
  query.apply(groupBy(['status'], aggregate({ n: count() }), filter(field('price').gt(1))));
  // @ts-expect-error -- after a transformation only its rows are visible
  query.apply(groupBy(['status'])).where('price', 'gt', 1);
  // @ts-expect-error -- rows that are not records have no relations
  query.apply(groupBy(['status'])).expand('category');
}

it('the builder imports nothing that a browser lacks', () => {
  const seen = new Set<string>();
  const read = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    const source = readFileSync(path.join(import.meta.dirname, name), 'utf8');
    for (const [, kind, from] of source.matchAll(/^(?:import|export) (type )?[^;]*?from '([^']+)'/gm)) {
      if (kind !== undefined) continue;
      expect(from).toMatch(/^\.\//);
      read((from ?? '').replace(/^\.\/(.*)\.js$/, '$1.ts'));
    }
  };
  read('builder.ts');
  expect([...seen].sort()).toEqual(['builder-conditions.ts', 'builder-query.ts', 'builder-steps.ts', 'builder.ts', 'print.ts']);
});
