import { rowsOf } from '@tandem/client';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useSession } from '../session/session.js';
import { Entry, Guarded } from '../ui/boundary.js';
import { Button } from '../ui/button.js';
import { Choice } from '../ui/field.js';
import { Empty, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { useTitle } from '../ui/title.js';
import { Charts } from './charts.js';
import { Filters } from './filters.js';
import { useCategories, useOffers, useShopNames } from './names.js';
import { ProductCard } from './product-card.js';
import { groupQueries, productsQuery } from './queries.js';
import { QueryText } from './query-text.js';
import {
  GROUPINGS,
  MEASURES,
  NO_FILTERS,
  hasFilters,
  ordersOf,
  useViewState,
  type Grouping,
  type Measure,
  type Order,
} from './view-state.js';

/** The catalogue, filtered, grouped and charted by list queries, which are shown. */
export function CatalogueView() {
  useTitle('Catalogue');
  const { client } = useSession();
  const [state, change] = useViewState();
  const categories = useCategories();
  const offers = useOffers();
  const shopName = useShopNames();

  const categoryIds = (categories.data ?? []).map(({ id }) => id).filter((id) => state.category === '' || id === state.category);
  const grouping = groupQueries(state, categoryIds);
  const groups = useQuery({
    queryKey: ['groups', ...grouping.map(({ parameters }) => parameters)],
    enabled: grouping.length > 0,
    // earlier groups stay until the new ones load, shown as what they were asked for
    queryFn: async () => {
      const rows = await Promise.all(grouping.map(({ ask }) => ask(client)));
      return { group: state.group, rows: rows.flat() };
    },
    placeholderData: keepPreviousData,
  });
  const first = productsQuery(state);
  const products = useInfiniteQuery({
    queryKey: ['products', first],
    initialPageParam: '',
    queryFn: async ({ pageParam }) => {
      const parameters = pageParam === '' ? first : productsQuery(state, pageParam);
      return rowsOf(await client.api.products.list.query(parameters), parameters);
    },
    getNextPageParam: ({ nextToken }) => nextToken,
    placeholderData: keepPreviousData,
  });

  const categoryName = (id: string) => categories.data?.find((category) => category.id === id)?.name ?? 'Unknown category';
  const names: Record<Grouping, (key: string) => string> = { category: categoryName, shop: shopName, currency: (code) => code };
  const found = products.data?.pages.flatMap(({ value }) => value);
  const total = products.data?.pages[0]?.total ?? 0;
  const isFiltered = hasFilters(state);

  return (
    <>
      <header className="view-head">
        <h1>Catalogue</h1>
        {found && <span className="tag tag-plain">{total === 1 ? '1 product' : `${total} products`}</span>}
        {isFiltered && <Button onClick={() => change(NO_FILTERS)}>Clear filters</Button>}
      </header>
      <Filters state={state} change={change} />
      <QueryFailure of={[groups, products, categories, offers]} />

      <section className="panel" aria-label="Chart">
        <div className="panel-head">
          <Choice<Measure> label="Show" value={state.measure} options={MEASURES} onChange={(measure) => change({ measure })} />
          <Choice<Grouping> label="By" value={state.group} options={GROUPINGS} onChange={(group) => change({ group })} />
        </div>
        {groups.data ? (
          <Guarded of={groups.data}>
            <Charts {...groups.data} measure={state.measure} nameOf={names[groups.data.group]} />
          </Guarded>
        ) : (
          !groups.error && grouping.length > 0 && <Loading what="chart" />
        )}
        <QueryText parameters={grouping[0]?.parameters} queries={grouping.length} />
      </section>

      <section className="products" aria-label="Products">
        <div className="view-head">
          <h2>Products</h2>
          <Choice<Order>
            label="In order of"
            value={state.order}
            options={ordersOf(state.words)}
            onChange={(order) => change({ order })}
          />
        </div>
        {!found && !products.error && <Loading what="products" />}
        {found?.length === 0 && (
          <Empty title="No such products">
            {isFiltered
              ? 'Remove a filter to see more.'
              : 'The catalogue is empty: tandem seed fills it with two shops to look at.'}
          </Empty>
        )}
        <ul className="cards">
          {found?.map((product) => (
            <Entry key={product.id} of={product}>
              <ProductCard product={product} categoryName={categoryName} />
            </Entry>
          ))}
        </ul>
        {products.hasNextPage && (
          <Button className="more" isOff={products.isFetchingNextPage} onClick={() => void products.fetchNextPage()}>
            Show more
          </Button>
        )}
      </section>
    </>
  );
}
