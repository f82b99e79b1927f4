import { newId, present, type Storage } from '@tandem/storage';
import { identityErrors } from '../identities/identities.errors.js';
import type { ListAnswer } from '../shared/list-declaration.js';
import type { ListQuery } from '../shared/list-query.js';
import type { Lists } from '../shared/lists.js';
import { createProfileDeletion, type OfProfiles } from './profile-deletion.js';
import { profileModel, type ProfileRecord } from './profile.model.js';
import { profileErrors as errors } from './profiles.errors.js';
import { identityProfileList, profileList, type NewProfile, type Profile, type ProfilePatch } from './profiles.schemas.js';

export type ProfilesService = ReturnType<typeof createProfilesService>;

interface ProfilesOptions {
  storage: Storage;
  lists: Lists;
  /** Which of these identities exist. */
  existingIdentities(identityIds: readonly string[]): Promise<Set<string>>;
  /** What is hidden, and shown again, with profiles. */
  relations: readonly OfProfiles[];
}

/** What is never read where a profile is. */
const WITHOUT_HIDDEN = { deletionId: 0 } as const;

function showProfile(record: ProfileRecord): Profile {
  const { deletionId, ...shown } = present(record);
  return shown;
}

/** Profiles. Ids are UUID strings; nothing here knows HTTP. */
export function createProfilesService({ storage, lists, existingIdentities, relations }: ProfilesOptions) {
  const Profiles = storage.model(profileModel);
  const deletion = createProfileDeletion(storage, relations);

  return {
    /** What the deletion of an identity takes along. */
    withIdentity: deletion.withIdentity,
    /** Deletes softly, with what it follows and likes. @throws errors.notFound */
    delete: deletion.delete,

    /** @throws identityErrors.notFound when there is no such identity */
    async create({ identityId, name }: NewProfile): Promise<Profile> {
      const record = await Profiles.create({ _id: newId(storage.clock), identityId, name });
      // asked afterwards: an identity that is deleted from now on finds the profile and takes it along
      if (!(await existingIdentities([identityId])).has(identityId)) {
        await deletion.uncreate(record._id);
        throw identityErrors.notFound();
      }
      return showProfile(record.toObject());
    },

    /** @throws errors.notFound */
    async get(profileId: string): Promise<Profile> {
      const record = await Profiles.findById(profileId, WITHOUT_HIDDEN).lean<ProfileRecord>();
      if (!record) throw errors.notFound();
      return showProfile(record);
    },

    /** The identity that a live profile is of; undefined when there is none. Serves the owner rule. */
    async ownerOf(profileId: string): Promise<string | undefined> {
      const record = await Profiles.findById(profileId, { identityId: 1 }).lean<Pick<ProfileRecord, 'identityId'>>();
      return record?.identityId;
    },

    list(query: ListQuery): Promise<ListAnswer<Profile>> {
      return lists.answer(profileList, Profiles, { show: showProfile }, query);
    },

    listOfIdentity(identityId: string, query: ListQuery): Promise<ListAnswer<Profile>> {
      return lists.answer(identityProfileList, Profiles, { scope: { identityId }, show: showProfile }, query);
    },

    /** @throws errors.nothingToUpdate for an empty change, notFound */
    async patch(profileId: string, { name }: ProfilePatch): Promise<Profile> {
      if (name === undefined) throw errors.nothingToUpdate();
      const options = { returnDocument: 'after' } as const;
      const record = await Profiles.findByIdAndUpdate(profileId, { $set: { name } }, options).lean<ProfileRecord>();
      if (!record) throw errors.notFound();
      return showProfile(record);
    },

    /**
     * Brings a profile back with what it followed and liked.
     * @throws errors.notFound when there is nothing to restore, identityErrors.notFound when its identity is deleted
     */
    async restore(profileId: string): Promise<Profile> {
      const record = await deletion.find(profileId);
      const { identityId } = record;
      const hasIdentity = async () => (await existingIdentities([identityId])).has(identityId);
      if (!(await hasIdentity())) throw identityErrors.notFound();
      await deletion.restore(record);
      // as for a new one: the identity may have been deleted meanwhile
      if (!(await hasIdentity())) {
        await deletion.delete(profileId);
        throw identityErrors.notFound();
      }
      return this.get(profileId);
    },
  };
}
