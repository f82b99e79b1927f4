import type { Storage } from '@tandem/storage';
import { profileModel } from './profile.model.js';

export interface OldestProfile {
  id: string;
  name: string;
}

/** Finds the identities of living profiles, by profile. */
export function createProfileOwners(storage: Storage) {
  const { collection } = storage.model(profileModel);
  return async function identitiesOf(profileIds: readonly string[]): Promise<Map<string, string>> {
    const living = { _id: { $in: profileIds }, deletedAt: null } as object;
    const found = await collection.find(living, { projection: { identityId: 1 } }).toArray();
    return new Map((found as unknown as { _id: string; identityId: string }[]).map(({ _id, identityId }) => [_id, identityId]));
  };
}

/** Finds the oldest living profile of each identity. */
export function createOldestProfiles(storage: Storage) {
  const { collection } = storage.model(profileModel);
  return async function oldestOf(identityIds: readonly string[]): Promise<Map<string, OldestProfile>> {
    const stages = [
      { $match: { identityId: { $in: identityIds }, deletedAt: null } },
      // the order of the index, backwards: it reads one profile of each
      { $sort: { identityId: -1, createdAt: 1, _id: 1 } },
      { $group: { _id: '$identityId', id: { $first: '$_id' }, name: { $first: '$name' } } },
    ];
    const found = (await collection.aggregate(stages).toArray()) as unknown as (OldestProfile & { _id: string })[];
    return new Map(found.map(({ _id, id, name }) => [_id, { id, name }]));
  };
}
