import { admin, anyOf, organizationRole, owner, router } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { organizationErrors } from '../organizations/organizations.errors.js';
import type { OrganizationRole } from '../organizations/roles.js';
import { actionRoute, listRoute, removeRoute } from '../shared/record-routes.js';
import {
  organizationFollowInput,
  organizationFollowList,
  organizationFollowerList,
  profileFollowInput,
  profileFollowList,
  profileFollowerList,
} from './follows.schemas.js';
import type { FollowsService } from './follows.service.js';
import { profileErrors as errors } from './profiles.errors.js';

interface FollowsRouterOptions {
  follows: FollowsService;
  /** The identity that owns a profile. */
  ownerOf(profileId: string): Promise<string | undefined>;
}

const ofProfile = { one: 'profile follow', many: 'profile follows', idInput: profileFollowInput, errors };
const ofOrganization = { one: 'organization follow', many: 'organization follows', idInput: organizationFollowInput, errors };

/** The routes of the spec ("Other services") for follows and followers. */
export function createFollowsRouter({ follows, ownerOf }: FollowsRouterOptions) {
  const ownProfile = anyOf(admin, owner('profileId', ownerOf));
  return router({
    followProfile: actionRoute(ofProfile, 'PUT /profiles/{profileId}/profile-follows/{followProfileId}', 'create', {
      summary: 'Follow a profile',
      errors: [errors.profileFollowed],
      allow: [ownProfile],
    }).mutation(async ({ input }) => void (await follows.followProfile(input.profileId, input.followProfileId))),

    unfollowProfile: removeRoute(ofProfile, 'DELETE /profiles/{profileId}/profile-follows/{followProfileId}', {
      summary: 'Unfollow a profile',
      errors: [errors.profileNotFollowed],
      allow: [ownProfile],
    }).mutation(({ input }) => follows.unfollowProfile(input.profileId, input.followProfileId)),

    listProfileFollows: listRoute(ofProfile, 'GET /profiles/{profileId}/profile-follows', profileFollowList, {
      summary: 'List the profiles that a profile follows, newest first',
      allow: [ownProfile],
    }).query(({ ctx, input }) => follows.listProfiles(input.profileId, askedBy(ctx, input))),

    listFollowers: listRoute({ many: 'profiles' }, 'GET /profiles/{profileId}/followers', profileFollowerList, {
      summary: 'List the followers of a profile, newest first',
      errors: [errors.notFound],
      allow: [ownProfile],
    }).query(({ ctx, input }) => follows.listFollowersOfProfile(input.profileId, askedBy(ctx, input))),

    followOrganization: actionRoute(
      ofOrganization,
      'PUT /profiles/{profileId}/organization-follows/{followOrganizationId}',
      'create',
      {
        summary: 'Follow an organization',
        errors: [organizationErrors.notFound, errors.organizationFollowed],
        allow: [ownProfile],
      },
    ).mutation(async ({ input }) => void (await follows.followOrganization(input.profileId, input.followOrganizationId))),

    unfollowOrganization: removeRoute(
      ofOrganization,
      'DELETE /profiles/{profileId}/organization-follows/{followOrganizationId}',
      {
        summary: 'Unfollow an organization',
        errors: [organizationErrors.notFound, errors.organizationNotFollowed],
        allow: [ownProfile],
      },
    ).mutation(({ input }) => follows.unfollowOrganization(input.profileId, input.followOrganizationId)),

    listOrganizationFollows: listRoute(ofOrganization, 'GET /profiles/{profileId}/organization-follows', organizationFollowList, {
      summary: 'List the organizations that a profile follows, newest first',
      allow: [ownProfile],
    }).query(({ ctx, input }) => follows.listOrganizations(input.profileId, askedBy(ctx, input))),
  });
}

interface OrganizationFollowersOptions {
  follows: FollowsService;
  roleOf(organizationId: string, identityId: string): Promise<OrganizationRole | undefined>;
}

/** Lists an organization's followers; part of the organizations router. */
export function createOrganizationFollowersRouter({ follows, roleOf }: OrganizationFollowersOptions) {
  return router({
    listFollowers: listRoute({ many: 'profiles' }, 'GET /organizations/{organizationId}/followers', organizationFollowerList, {
      summary: 'List the followers of an organization, newest first',
      errors: [organizationErrors.notFound],
      allow: [anyOf(admin, organizationRole('organizationId', ['owner'], roleOf))],
    }).query(({ ctx, input }) => follows.listFollowersOfOrganization(input.organizationId, askedBy(ctx, input))),
  });
}
