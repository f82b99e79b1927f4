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
  optionsOf,
  ordersOf,
  useViewState,
  type Grouping,
  type Measure,
  type Order,
} from './view-state.js';
import { t } from '../texts/texts.js';

/** The catalogue, filtered, grouped and charted by list queries, which are shown. */
export function CatalogueView() {
  useTitle(t('catalogue.title'));
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

  const categoryName = (id: string) =>
    categories.data?.find((category) => category.id === id)?.name ?? t('catalogue.unknownCategory');
  const names: Record<Grouping, (key: string) => string> = { category: categoryName, shop: shopName, currency: (code) => code };
  const found = products.data?.pages.flatMap(({ value }) => value);
  const total = products.data?.pages[0]?.total ?? 0;
  const isFiltered = hasFilters(state);

  return (
    <>
      <header className="view-head">
        <h1>{t('catalogue.title')}</h1>
        {found && <span className="tag tag-plain">{t('catalogue.count', { total })}</span>}
        {isFiltered && <Button onClick={() => change(NO_FILTERS)}>{t('catalogue.clear')}</Button>}
      </header>
      <Filters state={state} change={change} />
      <QueryFailure of={[groups, products, categories, offers]} />

      <section className="panel" aria-label={t('catalogue.chart')}>
        <div className="panel-head">
          <Choice<Measure>
            label={t('catalogue.show')}
            value={state.measure}
            options={optionsOf(MEASURES, 'measures')}
            onChange={(measure) => change({ measure })}
          />
          <Choice<Grouping>
            label={t('catalogue.by')}
            value={state.group}
            options={optionsOf(GROUPINGS, 'groupings')}
            onChange={(group) => change({ group })}
          />
        </div>
        {groups.data ? (
          <Guarded of={groups.data}>
            <Charts {...groups.data} measure={state.measure} nameOf={names[groups.data.group]} />
          </Guarded>
        ) : (
          !groups.error && grouping.length > 0 && <Loading what={t('catalogue.loading.chart')} />
        )}
        <QueryText parameters={grouping[0]?.parameters} queries={grouping.length} />
      </section>

      <section className="products" aria-label={t('catalogue.products')}>
        <div className="view-head">
          <h2>{t('catalogue.products')}</h2>
          <Choice<Order>
            label={t('catalogue.order')}
            value={state.order}
            options={optionsOf(ordersOf(state.words), 'orders')}
            onChange={(order) => change({ order })}
          />
        </div>
        {!found && !products.error && <Loading what={t('catalogue.loading.products')} />}
        {found?.length === 0 && (
          <Empty title={t('catalogue.none')}>{isFiltered ? t('catalogue.removeFilter') : t('catalogue.empty')}</Empty>
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
            {t('ui.showMore')}
          </Button>
        )}
      </section>
    </>
  );
}
