import type { ListQuery, Lists } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import { organizationErrors } from '../organizations/organizations.errors.js';
import type { Attachments } from '../files/attachments.js';
import { createFollowerCounts } from './follower-counts.js';
import { createFollowers } from './followers.js';
import { organizationFollowList, organizationFollowerList, profileFollowList, profileFollowerList } from './follows.schemas.js';
import { profileModel } from './profile.model.js';
import { profileErrors as errors } from './profiles.errors.js';
import { organizationFollowModel, profileFollowModel } from './relation.model.js';
import { createRelation, showRelation } from './relations.js';

export type FollowsService = ReturnType<typeof createFollowsService>;

interface FollowsOptions {
  storage: Storage;
  lists: Lists;
  /** Avatars of profiles. */
  avatars: Attachments;
  organizationExists(organizationId: string): Promise<boolean>;
}

/** Follows of profiles, and their followers (decisions R4). */
export function createFollowsService({ storage, lists, avatars, organizationExists }: FollowsOptions) {
  const Profiles = storage.model(profileModel);
  const counts = createFollowerCounts(storage.clock);
  const followers = createFollowers({ storage, lists, counts, avatars });
  const profiles = createRelation({
    storage,
    definition: profileFollowModel,
    key: 'followProfileId',
    counts,
    targetExists: async (profileId) => (await Profiles.exists({ _id: profileId })) !== null,
    errors: { noTarget: errors.notFound, present: errors.profileFollowed, missing: errors.profileNotFollowed },
  });
  const organizations = createRelation({
    storage,
    definition: organizationFollowModel,
    key: 'followOrganizationId',
    counts,
    targetExists: organizationExists,
    errors: {
      noTarget: organizationErrors.notFound,
      present: errors.organizationFollowed,
      missing: errors.organizationNotFollowed,
    },
  });

  return {
    followProfile: profiles.add,
    unfollowProfile: profiles.remove,
    followOrganization: organizations.add,
    unfollowOrganization: organizations.remove,

    /** The profiles that a profile follows, newest first. */
    listProfiles: (profileId: string, query: ListQuery) =>
      lists.answer(profileFollowList, profiles.model, { scope: { profileId }, show: showRelation }, query),

    /** The organizations that a profile follows, newest first. */
    listOrganizations: (profileId: string, query: ListQuery) =>
      lists.answer(organizationFollowList, organizations.model, { scope: { profileId }, show: showRelation }, query),

    /** @throws errors.notFound */
    async listFollowersOfProfile(profileId: string, query: ListQuery) {
      if (!(await profiles.targetExists(profileId))) throw errors.notFound();
      const of = { list: profileFollowerList, model: profiles.model, key: 'followProfileId', targetId: profileId } as const;
      return followers.list(of, query);
    },

    /** @throws organizationErrors.notFound */
    async listFollowersOfOrganization(organizationId: string, query: ListQuery) {
      if (!(await organizationExists(organizationId))) throw organizationErrors.notFound();
      const { model } = organizations;
      const of = { list: organizationFollowerList, model, key: 'followOrganizationId', targetId: organizationId } as const;
      return followers.list(of, query);
    },
  };
}
