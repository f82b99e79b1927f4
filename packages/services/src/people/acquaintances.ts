import type { Lists } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import { createFellowMembers } from '../chat/fellow-members.js';
import { createBuyers } from '../orders/buyers.js';
import { createOrganizationFellows } from '../organizations/fellows.js';

/**
 * Finds out who knows whom (decisions N1): direct members of the same living channel or organization; members of an
 * organization and those who have ordered from it, of whom these know its owners alone.
 */
export function createAcquaintances(parts: { storage: Storage; lists: Lists }) {
  const inChannels = createFellowMembers(parts);
  const organizations = createOrganizationFellows(parts);
  const { buyersAmong, sellersTo } = createBuyers(parts);

  async function inOrganizations(identityId: string, ids: readonly string[], call: object): Promise<string[]> {
    const own = await organizations.fellowsOf(identityId, ids, call);
    const organizationIds = own.map(({ id }) => id);
    return [...own.flatMap(({ identityIds }) => identityIds), ...(await buyersAmong(ids, organizationIds, call))];
  }

  async function owners(identityId: string, ids: readonly string[], call: object): Promise<string[]> {
    const owned = await organizations.ownedBy(ids, call);
    const organizationIds = owned.map(({ id }) => id);
    const sellers = new Set(await sellersTo(identityId, organizationIds, call));
    return owned.filter(({ id }) => sellers.has(id)).flatMap(({ identityIds }) => identityIds);
  }

  /**
   * Those of `ids` whom the identity knows, itself included. Deleted identities may be among them.
   * @param call the request, for the gate: see `askedBy`
   */
  return async function knownTo(identityId: string, ids: readonly string[], call: object): Promise<Set<string>> {
    const others = ids.filter((id) => id !== identityId);
    if (others.length === 0) return new Set(ids);
    // first the way that most pages need alone: the senders of a channel's messages
    const known = new Set([identityId, ...(await inChannels(identityId, others, call))]);
    const left = others.filter((id) => !known.has(id));
    if (left.length === 0) return known;
    const ways = [inOrganizations, owners].map((way) => way(identityId, left, call));
    return new Set([...known, ...(await Promise.all(ways)).flat()]);
  };
}
