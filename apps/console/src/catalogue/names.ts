import { groupBy, queryOf, rowsOf } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { useMe } from '../session/me.js';
import { useIdentityId, useSession } from '../session/session.js';
import { t } from '../texts/texts.js';

/** Most choices offered. */
const CHOICES = 100;

/** Categories by name. */
export function useCategories() {
  const { client } = useSession();
  return useQuery({
    queryKey: ['categories'],
    queryFn: async () => {
      const { parameters } = queryOf('categories.list').orderBy('name').top(CHOICES);
      return rowsOf(await client.api.categories.list.query(parameters), parameters).value;
    },
  });
}

/** Shops and currencies that have products. */
export function useOffers() {
  const { client } = useSession();
  return useQuery({
    queryKey: ['offers'],
    queryFn: async () => {
      const { parameters } = queryOf('products.list').apply(groupBy(['organizationId', 'price.currency'])).top(CHOICES); // prettier-ignore
      const rows = rowsOf(await client.api.products.list.query(parameters), parameters).value;
      const distinct = (values: (string | null)[]) => [...new Set(values)].filter((value) => value !== null).sort();
      return {
        shopIds: distinct(rows.map(({ organizationId }) => organizationId)),
        currencies: distinct(rows.map(({ price }) => price.currency)),
      };
    },
  });
}

/** Names of shops: all for admins, for others those they belong to. */
export function useShopNames(): (organizationId: string) => string {
  const { client } = useSession();
  const identityId = useIdentityId();
  const { data: me } = useMe();
  const { data: names } = useQuery({
    queryKey: ['shop names', identityId, me?.isAdmin],
    enabled: me !== undefined,
    queryFn: async () => {
      const { organizations } = client.api;
      const all = queryOf('organizations.list').top(CHOICES).parameters;
      const own = queryOf('organizations.listOfIdentity').top(CHOICES).parameters;
      const known = me?.isAdmin
        ? rowsOf(await organizations.list.query(all), all).value
        : rowsOf(await organizations.listOfIdentity.query({ identityId, ...own }), own).value.map(
            ({ organization }) => organization,
          );
      return new Map(known.map(({ id, name }) => [id, name]));
    },
  });
  return (organizationId) => names?.get(organizationId) ?? t('catalogue.shop', { number: organizationId.slice(-4) });
}
