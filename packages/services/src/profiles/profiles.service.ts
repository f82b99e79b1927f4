import { newId, present, type Storage } from '@tandem/storage';
import type { Attachments } from '../files/attachments.js';
import type { UploadAddress, UploadRequest } from '../files/files.schemas.js';
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
  /** One each. */
  avatars: Attachments;
}

/** What is never read where a profile is. */
const WITHOUT_HIDDEN = { deletionId: 0 } as const;

/** A profile without its avatar, which is no part of its record. */
function showBare(record: ProfileRecord): Profile {
  const { deletionId, ...shown } = present(record);
  return { ...shown, avatar: null };
}

/** Profiles. Ids are UUID strings; nothing here knows HTTP. */
export function createProfilesService({ storage, lists, existingIdentities, relations, avatars }: ProfilesOptions) {
  const Profiles = storage.model(profileModel);
  const deletion = createProfileDeletion(storage, relations);

  /** Fills in the avatars, by one query. */
  async function addAvatars(profiles: readonly Profile[]): Promise<void> {
    const found = await avatars.oneOf(profiles.map(({ id }) => id));
    for (const profile of profiles) profile.avatar = found.get(profile.id) ?? null;
  }

  const showOne = lists.one(profileList, showBare);

  /** @throws errors.notFound */
  async function show(record: ProfileRecord | null): Promise<Profile> {
    const profile = showOne(record, errors.notFound);
    await addAvatars([profile]);
    return profile;
  }

  return {
    /** What the deletion of an identity takes along. */
    withIdentity: deletion.withIdentity,
    /** Deletes softly, with what it follows and likes. @throws errors.notFound */
    delete: deletion.delete,

    /**
     * @param createdBy who uploaded the avatar
     * @throws identityErrors.notFound when there is no such identity; ATTACH_ERRORS
     */
    async create({ identityId, name, avatar }: NewProfile, createdBy: string): Promise<Profile> {
      const id = newId(storage.clock);
      const record = await avatars.replace(id, avatar, createdBy, async () => {
        const created = await Profiles.create({ _id: id, identityId, name });
        // asked afterwards: an identity that is deleted from now on finds the profile and takes it along
        if ((await existingIdentities([identityId])).has(identityId)) return created;
        await deletion.uncreate(id);
        throw identityErrors.notFound();
      });
      return show(record.toObject());
    },

    /** Where to upload an avatar to. @throws errors.notFound; fileErrors.tooManyUnused */
    async avatarUploadUrl(profileId: string, request: UploadRequest, identityId: string): Promise<UploadAddress> {
      if (!(await Profiles.exists({ _id: profileId }))) throw errors.notFound();
      return avatars.issue(request, identityId);
    },

    /** @throws errors.notFound */
    async get(profileId: string): Promise<Profile> {
      return show(await Profiles.findById(profileId, WITHOUT_HIDDEN).lean<ProfileRecord>());
    },

    /** The identity that a live profile is of; undefined when there is none. Serves the owner rule. */
    async ownerOf(profileId: string): Promise<string | undefined> {
      const record = await Profiles.findById(profileId, { identityId: 1 }).lean<Pick<ProfileRecord, 'identityId'>>();
      return record?.identityId;
    },

    list(query: ListQuery): Promise<ListAnswer<Profile>> {
      return lists.answer(profileList, Profiles, { show: showBare, complete: addAvatars }, query);
    },

    listOfIdentity(identityId: string, query: ListQuery): Promise<ListAnswer<Profile>> {
      const source = { scope: { identityId }, show: showBare, complete: addAvatars };
      return lists.answer(identityProfileList, Profiles, source, query);
    },

    /**
     * @param changedBy who uploaded the avatar
     * @throws errors.nothingToUpdate for an empty change, notFound; ATTACH_ERRORS
     */
    async patch(profileId: string, { name, avatar }: ProfilePatch, changedBy: string): Promise<Profile> {
      if (name === undefined && avatar === undefined) throw errors.nothingToUpdate();
      const options = { returnDocument: 'after' } as const;
      const set = { updatedAt: storage.clock.now(), ...(name !== undefined && { name }) };
      const record = await avatars.replace(profileId, avatar, changedBy, async () => {
        const changed = await Profiles.findByIdAndUpdate(profileId, { $set: set }, options).lean<ProfileRecord>();
        if (!changed) throw errors.notFound();
        return changed;
      });
      return show(record);
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
