import type { Storage } from '@tandem/storage';
import { defineDeletion, markOf, type Children, type Deletion } from '../shared/deletion.js';
import { profileModel, type ProfileRecord } from './profile.model.js';
import { profileErrors as errors } from './profiles.errors.js';

/** Hides and restores relations with their profiles. Both functions must be repeatable. */
export interface OfProfiles {
  take(profileIds: readonly string[], deletion: Deletion): Promise<void>;
  bringBack(profileIds: readonly string[], deletionId: string): Promise<void>;
}

/** Deletes and restores profiles with their relations (decisions R2). */
export function createProfileDeletion(storage: Storage, relations: readonly OfProfiles[]) {
  const Profiles = storage.model(profileModel);

  const take = (filter: object, deletion: Deletion) => Profiles.updateMany(filter, { $set: markOf(deletion) });
  const bringBack = (filter: object) =>
    Profiles.updateMany(filter, { $set: { deletedAt: null } }).setOptions({ deleted: 'only' });
  async function takeRelations(profileIds: readonly string[], deletion: Deletion): Promise<void> {
    for (const relation of relations) await relation.take(profileIds, deletion);
  }
  async function bringRelationsBack(profileIds: readonly string[], deletionId: string): Promise<void> {
    for (const relation of relations) await relation.bringBack(profileIds, deletionId);
  }

  const deletion = defineDeletion(storage, {
    name: 'profiles',
    model: Profiles,
    children: {
      take: (profileId, by) => takeRelations([profileId], by),
      bringBack: (profileId, deletionId) => bringRelationsBack([profileId], deletionId),
    },
    notFound: errors.notFound,
  });

  /** The profiles that a deletion took, restored or not. */
  async function takenBy(deletionId: string): Promise<string[]> {
    const found = await Profiles.find({ deletionId }, { _id: 1 }).setOptions({ deleted: 'include' }).lean();
    return found.map(({ _id }) => _id);
  }

  return {
    /** @throws errors.notFound */
    delete: deletion.delete,

    /** Finds a deleted profile to restore. @throws errors.notFound */
    async find(profileId: string): Promise<ProfileRecord> {
      const found = await Profiles.findById(profileId).setOptions({ deleted: 'only' }).lean<ProfileRecord>();
      if (!found) throw errors.notFound();
      return found;
    },

    restore: (profile: ProfileRecord): Promise<void> => deletion.restore(profile),

    /** Removes a profile that was stored for a missing identity. */
    async uncreate(profileId: string): Promise<void> {
      await Profiles.deleteOne({ _id: profileId }).setOptions({ hard: true });
    },

    /** Deletes and restores profiles with their identity. */
    withIdentity: {
      async take(identityId, by) {
        await take({ identityId }, by);
        await takeRelations(await takenBy(by.id), by);
      },
      async bringBack(_, deletionId) {
        await bringBack({ deletionId });
        await bringRelationsBack(await takenBy(deletionId), deletionId);
      },
    } satisfies Children,
  };
}
