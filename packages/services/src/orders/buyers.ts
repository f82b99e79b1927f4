import type { Lists } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import { createPairLookup } from '../shared/pairs.js';
import { orderModel } from './order.model.js';

/** Finds out who has ordered from which organizations. */
export function createBuyers({ storage, lists }: { storage: Storage; lists: Lists }) {
  const lookUp = createPairLookup({ lists }, storage.model(orderModel).collection);
  return {
    /** Those of `ids` who have ordered from one of the organizations. */
    buyersAmong: (ids: readonly string[], organizationIds: readonly string[], call: object): Promise<string[]> =>
      lookUp('identityId', { organizationId: organizationIds, identityId: ids }, call),

    /** Those of the organizations from which the identity has ordered. */
    sellersTo: (identityId: string, organizationIds: readonly string[], call: object): Promise<string[]> =>
      lookUp('organizationId', { organizationId: organizationIds, identityId: [identityId] }, call),
  };
}
