import { Choice, Field } from '../ui/field.js';
import { useCategories, useOffers, useShopNames } from './names.js';
import type { Filter, ViewState } from './view-state.js';

/** The filters of the catalogue. */
export function Filters({ state, change }: { state: ViewState; change(wanted: Partial<ViewState>): void }) {
  const { data: categories = [] } = useCategories();
  const { data: offers } = useOffers();
  const shopName = useShopNames();

  const chosen = (filter: Filter) => ({ value: state[filter], onChange: (value: string) => change({ [filter]: value }) });
  const amount = { inputMode: 'decimal', pattern: '[0-9]*[.,]?[0-9]*', title: 'A number, such as 9.90' } as const;
  const typed = (filter: Filter) => ({
    value: state[filter],
    onChange: ({ target }: { target: HTMLInputElement }) => change({ [filter]: target.value }),
    autoComplete: 'off',
  });
  return (
    <search className="filters filters-many">
      <Field label="Search" type="search" {...typed('words')} />
      <Choice
        label="Category"
        options={[['', 'All categories'], ...categories.map(({ id, name }) => [id, name] as const)]}
        {...chosen('category')}
      />
      <Choice
        label="Shop"
        options={[['', 'All shops'], ...(offers?.shopIds ?? []).map((id) => [id, shopName(id)] as const)]}
        {...chosen('shop')}
      />
      <Choice
        label="Currency"
        options={[['', 'All currencies'], ...(offers?.currencies ?? []).map((code) => [code, code] as const)]}
        {...chosen('currency')}
      />
      <Field label="Price from" {...amount} {...typed('min')} />
      <Field label="Price to" {...amount} {...typed('max')} />
    </search>
  );
}
