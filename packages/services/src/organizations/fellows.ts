import type { Storage } from '@tandem/storage';
import { MEMBERS, organizationModel } from './organization.model.js';

/** A living organization with those of the asked people who are its direct members. */
export interface OrganizationPeople {
  id: string;
  identityIds: string[];
}

/** Finds the direct members of organizations among some people. */
export function createOrganizationFellows(storage: Storage) {
  const { collection } = storage.model(organizationModel);

  async function find(filter: object, isWanted: object): Promise<OrganizationPeople[]> {
    const wanted = { $filter: { input: MEMBERS, as: 'member', cond: isWanted } };
    const identityIds = { $map: { input: wanted, as: 'member', in: '$$member.identityId' } };
    const stages = [{ $match: { ...filter, deletedAt: null } }, { $project: { _id: 0, id: '$_id', identityIds } }];
    return (await collection.aggregate(stages).toArray()) as unknown as OrganizationPeople[];
  }
  const isOneOf = (ids: readonly string[]) => ({ $in: ['$$member.identityId', { $literal: ids }] });

  return {
    /** The owners of these organizations. */
    ownersOf: (organizationIds: readonly string[]): Promise<OrganizationPeople[]> =>
      find({ _id: { $in: organizationIds } }, { $eq: ['$$member.role', 'owner'] }),

    /** The organizations of an identity, with its fellows among `ids`. */
    fellowsOf: (identityId: string, ids: readonly string[]): Promise<OrganizationPeople[]> =>
      find({ 'members.identityId': identityId }, isOneOf(ids)),

    /** The organizations that any of `ids` own, with these owners. */
    ownedBy(ids: readonly string[]): Promise<OrganizationPeople[]> {
      const isOwner = { $and: [isOneOf(ids), { $eq: ['$$member.role', 'owner'] }] };
      // the first condition lets the query use the index
      const owns = { 'members.identityId': { $in: ids }, members: { $elemMatch: { identityId: { $in: ids }, role: 'owner' } } };
      return find(owns, isOwner);
    },
  };
}
