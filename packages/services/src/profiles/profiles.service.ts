import type { ListAnswer, ListQuery, Lists, ReadQuery } from '@tandem/lists';
import { defineDeletion, newId, present, type Storage } from '@tandem/storage';
import type { Attachments } from '../files/attachments.js';
import type { GivenFile, UploadAddress, UploadRequest } from '../files/files.schemas.js';
import { identityErrors } from '../identities/identities.errors.js';
import { changeRecord } from '../shared/changes.js';
import { madeIn } from '../shared/made-records.js';
import { givenOf } from '../shared/patching.js';
import { noting } from '../shared/unit-notes.js';
import { profileModel, type ProfileRecord } from './profile.model.js';
import { profileErrors as errors } from './profiles.errors.js';
import { identityProfileList, profileList, type NewProfile, type Profile, type ProfilePatch } from './profiles.schemas.js';

export type ProfilesService = ReturnType<typeof createProfilesService>;

interface ProfilesOptions {
  storage: Storage;
  lists: Lists;
  /** Those of the given identities that exist. */
  existingIdentities(identityIds: readonly string[]): Promise<Set<string>>;
  /** A profile has one avatar at most. */
  avatars: Attachments;
}

/** The profile to store, and its avatar. */
interface Creation {
  profile: ProfileRecord;
  avatar: GivenFile | null | undefined;
  /** The identity that uploaded the avatar. */
  createdBy: string;
}

/** A profile without its avatar, which is stored apart. */
function showBare(record: ProfileRecord): Profile {
  const { metadata = {}, ...profile } = present(record);
  return { ...profile, metadata, avatar: null };
}

/** Profiles. Ids are UUID strings; nothing here depends on HTTP. */
export function createProfilesService({ storage, lists, existingIdentities, avatars }: ProfilesOptions) {
  const Profiles = storage.model(profileModel);
  const deletion = defineDeletion(storage, profileModel, {
    notFound: errors.notFound,
    parentNotFound: identityErrors.notFound,
  });

  const creations = storage.defineUnit<Creation>({
    name: 'profiles.create',
    steps: [
      {
        name: 'profile',
        async run({ profile: { _id, identityId }, avatar, createdBy }, fence) {
          await avatars.hold(_id, avatar, createdBy, fence);
          await fence.insert(Profiles.collection.collectionName, 'profile');
          // checked after the insert: an identity deleted later finds the profile and deletes it too
          if (!(await existingIdentities([identityId])).has(identityId)) throw identityErrors.notFound();
        },
        isDone: async ({ profile: { _id } }) => (await Profiles.exists({ _id }).setOptions({ deleted: 'include' })) !== null,
        async undo({ profile: { _id, createdAt } }) {
          await Profiles.deleteOne({ _id, createdAt }).setOptions({ hard: true });
          // a later attempt with the same key may have made it, under the same id, and holds the picture then
          if (!(await Profiles.exists({ _id }).setOptions({ deleted: 'include' }))) await avatars.release(_id);
        },
      },
    ],
  });

  /** Adds the avatars with one query. */
  async function addAvatars(profiles: readonly Profile[]): Promise<void> {
    const found = await avatars.oneOf(profiles.map(({ id }) => id));
    for (const profile of profiles) profile.avatar = found.get(profile.id) ?? null;
  }

  const replaceAvatar = avatars.replacing(Profiles);
  const showOne = lists.one(profileList, showBare);
  lists.tell('profile', profileList, { show: showBare, complete: { avatar: addAvatars } });

  /** @throws errors.notFound */
  async function show(record: ProfileRecord | null): Promise<Profile> {
    const profile = showOne(record, errors.notFound);
    await addAvatars([profile]);
    return profile;
  }

  return {
    /** Soft-deletes a profile with its follows and likes. @throws errors.notFound */
    delete: (profileId: string): Promise<void> => deletion.delete([profileId]),

    /**
     * @param createdBy the identity that uploaded the avatar
     * @throws identityErrors.notFound when the identity does not exist; ATTACH_ERRORS
     */
    async create({ avatar, ...given }: NewProfile, createdBy: string, id = newId(storage.clock)): Promise<Profile> {
      const now = storage.clock.now();
      const profile = { ...new Profiles({ _id: id, ...given }).toObject(), createdAt: now, updatedAt: now };
      await creations.run({ profile, avatar, createdBy }, id);
      if (avatar) await avatars.settleHeld(id);
      return show(profile);
    },

    made: madeIn(Profiles, show),

    /** Issues an upload address for an avatar. @throws errors.notFound; fileErrors.tooManyUnused */
    async avatarUploadUrl(profileId: string, request: UploadRequest, identityId: string): Promise<UploadAddress> {
      if (!(await Profiles.exists({ _id: profileId }))) throw errors.notFound();
      return avatars.issue(request, identityId);
    },

    /** @throws errors.notFound */
    async get(profileId: string, query?: ReadQuery): Promise<Profile> {
      return lists.find(
        profileList,
        Profiles,
        { _id: profileId },
        { show: showBare, complete: { avatar: addAvatars } },
        errors.notFound,
        query,
      );
    },

    /** The identity of a live profile; undefined when there is none. For the owner rule. */
    async ownerOf(profileId: string): Promise<string | undefined> {
      const record = await Profiles.findById(profileId, { identityId: 1 }).lean<Pick<ProfileRecord, 'identityId'>>();
      return record?.identityId;
    },

    list(query: ListQuery): Promise<ListAnswer<Profile>> {
      return lists.answer(profileList, Profiles, { show: showBare, complete: { avatar: addAvatars } }, query);
    },

    listOfIdentity(identityId: string, query: ListQuery): Promise<ListAnswer<Profile>> {
      const source = { scope: { identityId }, show: showBare, complete: { avatar: addAvatars } };
      return lists.answer(identityProfileList, Profiles, source, query);
    },

    /**
     * @param changedBy the identity that uploaded the avatar
     * @throws errors.nothingToUpdate for an empty change, notFound; ATTACH_ERRORS
     */
    async patch(profileId: string, { avatar, ...patch }: ProfilePatch, changedBy: string): Promise<Profile> {
      const set = givenOf(patch);
      if (Object.keys(set).length === 0 && avatar === undefined) throw errors.nothingToUpdate();
      const record = await replaceAvatar(profileId, avatar, changedBy, async (unit) => {
        const changed = await changeRecord(
          Profiles,
          { _id: profileId, ...unit?.open },
          { ...set, updatedAt: storage.clock.now() },
          unit ? [noting(unit.note)] : [],
        );
        if (!changed) throw errors.notFound();
        return changed;
      });
      return show(record);
    },

    /**
     * Restores a profile with its follows and likes.
     * @throws errors.notFound when there is nothing to restore, identityErrors.notFound when its identity is deleted
     */
    async restore(profileId: string): Promise<Profile> {
      await deletion.restore(profileId);
      return this.get(profileId);
    },
  };
}
