import { Choice } from '../ui/field.js';
import { KeptField } from '../ui/kept-field.js';
import { useCategories, useOffers, useShopNames } from './names.js';
import type { Filter, ViewState } from './view-state.js';
import { t } from '../texts/texts.js';

/** The filters of the catalogue. */
export function Filters({ state, change }: { state: ViewState; change(wanted: Partial<ViewState>): void }) {
  const { data: categories = [] } = useCategories();
  const { data: offers } = useOffers();
  const shopName = useShopNames();

  const chosen = (filter: Filter) => ({ value: state[filter], onChange: (value: string) => change({ [filter]: value }) });
  const amount = { inputMode: 'decimal', pattern: '[0-9]*[.,]?[0-9]*', title: t('catalogue.filters.amount') } as const;
  const typed = (filter: Filter) => ({
    value: state[filter],
    onType: (text: string) => change({ [filter]: text }),
  });
  return (
    <search className="filters filters-many">
      <KeptField label={t('ui.search')} type="search" {...typed('words')} />
      <Choice
        label={t('catalogue.filters.category')}
        options={[['', t('catalogue.filters.allCategories')], ...categories.map(({ id, name }) => [id, name] as const)]}
        {...chosen('category')}
      />
      <Choice
        label={t('catalogue.filters.shop')}
        options={[['', t('catalogue.filters.allShops')], ...(offers?.shopIds ?? []).map((id) => [id, shopName(id)] as const)]}
        {...chosen('shop')}
      />
      <Choice
        label={t('catalogue.filters.currency')}
        options={[['', t('catalogue.filters.allCurrencies')], ...(offers?.currencies ?? []).map((code) => [code, code] as const)]}
        {...chosen('currency')}
      />
      <KeptField label={t('catalogue.filters.min')} {...amount} {...typed('min')} />
      <KeptField label={t('catalogue.filters.max')} {...amount} {...typed('max')} />
    </search>
  );
}
