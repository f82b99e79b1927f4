import type { Storage } from '@tandem/storage';
import { markOf, newDeletion, type Children, type Deletion } from '../shared/deletion.js';
import { profileModel, type ProfileRecord } from './profile.model.js';
import { profileErrors as errors } from './profiles.errors.js';

/** What is hidden, and shown again, with profiles. Each may run more than once. */
export interface OfProfiles {
  take(profileIds: readonly string[], deletion: Deletion): Promise<void>;
  bringBack(profileIds: readonly string[], deletionId: string): Promise<void>;
}

interface Taken {
  profileId: string;
  deletion: Deletion;
}

/**
 * Deletion of profiles with what hangs on them, and the way back (decisions R2). Units of work, which the next sweep finishes where a process
 * died in between.
 */
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

  const ownMark = ({ profileId, deletion }: Taken) => ({ _id: profileId, deletionId: deletion.id });
  async function mark(taken: Taken): Promise<void> {
    const { matchedCount } = await take({ _id: taken.profileId }, taken.deletion);
    if (matchedCount > 0) return;
    const done = await Profiles.countDocuments(ownMark(taken)).setOptions({ deleted: 'include' });
    if (done === 0) throw errors.notFound();
  }
  const unmark = (taken: Taken) => bringBack(ownMark(taken));
  const takeOwn = ({ profileId, deletion }: Taken) => takeRelations([profileId], deletion);
  const bringOwnBack = ({ profileId, deletion }: Taken) => bringRelationsBack([profileId], deletion.id);

  const deletions = storage.defineUnit<Taken>({
    name: 'profiles.delete',
    recovery: 'finish',
    steps: [
      { name: 'profile', run: mark, undo: unmark },
      { name: 'relations', run: takeOwn, undo: bringOwnBack },
    ],
  });
  const restorations = storage.defineUnit<Taken>({
    name: 'profiles.restore',
    recovery: 'finish',
    steps: [
      // only what this deletion has taken: one that lives again, or was deleted anew, is left as it is
      { name: 'profile', run: unmark, undo: (taken) => take(ownMark(taken), taken.deletion) },
      { name: 'relations', run: bringOwnBack, undo: takeOwn },
    ],
  });

  /** The profiles that a deletion has taken, whether they live again or not. */
  async function takenBy(deletionId: string): Promise<string[]> {
    const found = await Profiles.find({ deletionId }, { _id: 1 }).setOptions({ deleted: 'include' }).lean();
    return found.map(({ _id }) => _id);
  }

  return {
    /** @throws errors.notFound */
    delete: (profileId: string) => deletions.run({ profileId, deletion: newDeletion(storage.clock) }),

    /** A deleted profile, to be restored. @throws errors.notFound */
    async find(profileId: string): Promise<ProfileRecord> {
      const found = await Profiles.findById(profileId).setOptions({ deleted: 'only' }).lean<ProfileRecord>();
      if (!found) throw errors.notFound();
      return found;
    },

    async restore({ _id: profileId, deletedAt, deletionId }: ProfileRecord): Promise<void> {
      if (deletedAt && deletionId) await restorations.run({ profileId, deletion: { id: deletionId, at: deletedAt } });
      else await Profiles.restore(profileId);
    },

    /** Removes for real what was stored for an identity that turned out to be gone. */
    async uncreate(profileId: string): Promise<void> {
      await Profiles.deleteOne({ _id: profileId }).setOptions({ hard: true });
    },

    /** The profiles of an identity go and come back with it. */
    withIdentity: {
      async take(identityId, deletion) {
        await take({ identityId }, deletion);
        await takeRelations(await takenBy(deletion.id), deletion);
      },
      async bringBack(_, deletionId) {
        await bringBack({ deletionId });
        await bringRelationsBack(await takenBy(deletionId), deletionId);
      },
    } satisfies Children,
  };
}
