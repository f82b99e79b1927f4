import type { Lists } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import { MEMBERS, organizationModel } from './organization.model.js';

/** A lookup in more organizations than this waits its turn with the costly lists: each may have thousands of members. */
const AT_ONCE_MAX = 50;

/** A living organization with those of the asked people who are its direct members. */
export interface OrganizationPeople {
  id: string;
  identityIds: string[];
}

const IDS = { $ifNull: ['$members.identityId', []] };
const OWNERS = { $filter: { input: MEMBERS, as: 'member', cond: { $eq: ['$$member.role', 'owner'] } } };
const OWNER_IDS = { $map: { input: OWNERS, as: 'owner', in: '$$owner.identityId' } };
// a set, because `$in` would compare each member with each of the people
const among = (all: object, ids: readonly string[]) => ({ $setIntersection: [all, { $literal: ids }] });

/** Finds the direct members of organizations among some people. `call` is the request, for the gate: see `askedBy`. */
export function createOrganizationFellows({ storage, lists }: { storage: Storage; lists: Lists }) {
  const { collection } = storage.model(organizationModel);

  async function find(filter: object, identityIds: object, call: object): Promise<OrganizationPeople[]> {
    const match = { $match: { ...filter, deletedAt: null } };
    const shown = { $project: { _id: 0, id: '$_id', identityIds } };
    const first = await collection.aggregate([match, { $limit: AT_ONCE_MAX + 1 }, shown]).toArray();
    const found = first.length <= AT_ONCE_MAX ? first : await lists.read({ collection }, [match, shown], 'ids', call);
    return found as unknown as OrganizationPeople[];
  }

  return {
    /** The owners of these organizations, at most so many of each. */
    ownersOf: (organizationIds: readonly string[], most: number, call: object): Promise<OrganizationPeople[]> =>
      find({ _id: { $in: organizationIds } }, { $slice: [OWNER_IDS, most] }, call),

    /** The organizations of an identity, with its fellows among `ids`. */
    fellowsOf: (identityId: string, ids: readonly string[], call: object): Promise<OrganizationPeople[]> =>
      find({ 'members.identityId': identityId }, among(IDS, ids), call),

    /** The organizations that any of `ids` own, with these owners. */
    ownedBy(ids: readonly string[], call: object): Promise<OrganizationPeople[]> {
      // the first condition lets the query use the index
      const owns = { 'members.identityId': { $in: ids }, members: { $elemMatch: { identityId: { $in: ids }, role: 'owner' } } };
      return find(owns, among(OWNER_IDS, ids), call);
    },
  };
}
