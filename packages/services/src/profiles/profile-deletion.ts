import type { Storage } from '@tandem/storage';
import { defineDeletion, markOf, type Children, type Deletion } from '../shared/deletion.js';
import { profileModel, type ProfileRecord } from './profile.model.js';
import { profileErrors as errors } from './profiles.errors.js';

/** What is hidden, and shown again, with profiles. Each may run more than once. */
export interface OfProfiles {
  take(profileIds: readonly string[], deletion: Deletion): Promise<void>;
  bringBack(profileIds: readonly string[], deletionId: string): Promise<void>;
}

/** Deletion of profiles with what hangs on them, and the way back (decisions R2). */
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

  /** The profiles that a deletion has taken, whether they live again or not. */
  async function takenBy(deletionId: string): Promise<string[]> {
    const found = await Profiles.find({ deletionId }, { _id: 1 }).setOptions({ deleted: 'include' }).lean();
    return found.map(({ _id }) => _id);
  }

  return {
    /** @throws errors.notFound */
    delete: deletion.delete,

    /** A deleted profile, to be restored. @throws errors.notFound */
    async find(profileId: string): Promise<ProfileRecord> {
      const found = await Profiles.findById(profileId).setOptions({ deleted: 'only' }).lean<ProfileRecord>();
      if (!found) throw errors.notFound();
      return found;
    },

    restore: (profile: ProfileRecord): Promise<void> => deletion.restore(profile),

    /** Removes for real what was stored for an identity that turned out to be gone. */
    async uncreate(profileId: string): Promise<void> {
      await Profiles.deleteOne({ _id: profileId }).setOptions({ hard: true });
    },

    /** The profiles of an identity go and come back with it. */
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
