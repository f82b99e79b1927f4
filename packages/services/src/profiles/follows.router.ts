import { admin, anyOf, authenticatedRoute, organizationRole, owner, router } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { organizationErrors } from '../organizations/organizations.errors.js';
import type { OrganizationRole } from '../organizations/roles.js';
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

/** The routes of the spec ("Other services") for follows and followers. */
export function createFollowsRouter({ follows, ownerOf }: FollowsRouterOptions) {
  const ownProfile = anyOf(admin, owner('profileId', ownerOf));
  return router({
    followProfile: authenticatedRoute('PUT /profiles/{profileId}/profile-follows/{followProfileId}', {
      status: 204,
      summary: 'Follow a profile',
      failure: 'Failed to create profile follow',
      errors: [errors.notFound, errors.profileFollowed],
      allow: [ownProfile],
    })
      .input(profileFollowInput)
      .mutation(async ({ input }) => void (await follows.followProfile(input.profileId, input.followProfileId))),

    unfollowProfile: authenticatedRoute('DELETE /profiles/{profileId}/profile-follows/{followProfileId}', {
      status: 204,
      summary: 'Unfollow a profile',
      failure: 'Failed to delete profile follow',
      errors: [errors.notFound, errors.profileNotFollowed],
      allow: [ownProfile],
    })
      .input(profileFollowInput)
      .mutation(({ input }) => follows.unfollowProfile(input.profileId, input.followProfileId)),

    listProfileFollows: authenticatedRoute('GET /profiles/{profileId}/profile-follows', {
      summary: 'List the profiles that a profile follows, newest first',
      failure: 'Failed to find profile follows',
      errors: [listErrors.invalidNextToken],
      allow: [ownProfile],
    })
      .input(profileFollowList.input)
      .output(profileFollowList.output)
      .query(({ ctx, input }) => follows.listProfiles(input.profileId, askedBy(ctx, input))),

    listFollowers: authenticatedRoute('GET /profiles/{profileId}/followers', {
      summary: 'List the followers of a profile, newest first',
      failure: 'Failed to find profiles',
      errors: [errors.notFound, listErrors.invalidNextToken],
      allow: [ownProfile],
    })
      .input(profileFollowerList.input)
      .output(profileFollowerList.output)
      .query(({ ctx, input }) => follows.listFollowersOfProfile(input.profileId, askedBy(ctx, input))),

    followOrganization: authenticatedRoute('PUT /profiles/{profileId}/organization-follows/{followOrganizationId}', {
      status: 204,
      summary: 'Follow an organization',
      failure: 'Failed to create organization follow',
      errors: [errors.notFound, organizationErrors.notFound, errors.organizationFollowed],
      allow: [ownProfile],
    })
      .input(organizationFollowInput)
      .mutation(async ({ input }) => void (await follows.followOrganization(input.profileId, input.followOrganizationId))),

    unfollowOrganization: authenticatedRoute('DELETE /profiles/{profileId}/organization-follows/{followOrganizationId}', {
      status: 204,
      summary: 'Unfollow an organization',
      failure: 'Failed to delete organization follow',
      errors: [errors.notFound, organizationErrors.notFound, errors.organizationNotFollowed],
      allow: [ownProfile],
    })
      .input(organizationFollowInput)
      .mutation(({ input }) => follows.unfollowOrganization(input.profileId, input.followOrganizationId)),

    listOrganizationFollows: authenticatedRoute('GET /profiles/{profileId}/organization-follows', {
      summary: 'List the organizations that a profile follows, newest first',
      failure: 'Failed to find organization follows',
      errors: [listErrors.invalidNextToken],
      allow: [ownProfile],
    })
      .input(organizationFollowList.input)
      .output(organizationFollowList.output)
      .query(({ ctx, input }) => follows.listOrganizations(input.profileId, askedBy(ctx, input))),
  });
}

interface OrganizationFollowersOptions {
  follows: FollowsService;
  roleOf(organizationId: string, identityId: string): Promise<OrganizationRole | undefined>;
}

/** Lists an organization's followers; part of the organizations router. */
export function createOrganizationFollowersRouter({ follows, roleOf }: OrganizationFollowersOptions) {
  return router({
    listFollowers: authenticatedRoute('GET /organizations/{organizationId}/followers', {
      summary: 'List the followers of an organization, newest first',
      failure: 'Failed to find profiles',
      errors: [organizationErrors.notFound, listErrors.invalidNextToken],
      allow: [anyOf(admin, organizationRole('organizationId', ['owner'], roleOf))],
    })
      .input(organizationFollowerList.input)
      .output(organizationFollowerList.output)
      .query(({ ctx, input }) => follows.listFollowersOfOrganization(input.organizationId, askedBy(ctx, input))),
  });
}
