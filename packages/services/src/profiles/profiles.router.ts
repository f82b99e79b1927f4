import { admin, anyOf, owner, router, self } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { ATTACH_ERRORS } from '../files/files.errors.js';
import { uploadRoute } from '../files/upload-route.js';
import { identityErrors } from '../identities/identities.errors.js';
import { createRoute, deleteRoute, getRoute, listRoute, patchRoute, restoreRoute } from '../shared/record-routes.js';
import { profileErrors as errors } from './profiles.errors.js';
import {
  ProfileSchema,
  avatarUploadInput,
  createProfileInput,
  identityProfileList,
  profileInput,
  profileList,
  profilePatchInput,
} from './profiles.schemas.js';
import type { ProfilesService } from './profiles.service.js';

const profile = { one: 'profile', many: 'profiles', output: ProfileSchema, list: profileList, idInput: profileInput, errors };

/** The profile routes of the spec ("Other services"). */
export function createProfilesRouter(profiles: ProfilesService) {
  const ownProfile = anyOf(admin, owner('profileId', profiles.ownerOf));
  return router({
    create: createRoute(profile, 'POST /profiles', createProfileInput, {
      summary: 'Create a profile of an identity',
      made: profiles.made,
      errors: [identityErrors.notFound, ...ATTACH_ERRORS],
      allow: [anyOf(admin, self('identityId'))],
    }).mutation(({ ctx, input }) => profiles.create(input, ctx.identity.id, ctx.newId?.())),

    list: listRoute(profile, 'GET /profiles', profileList, { allow: [admin] }).query(({ ctx, input }) =>
      profiles.list(askedBy(ctx, input)),
    ),

    get: getRoute(profile, 'GET /profiles/{profileId}', { allow: [ownProfile] }).query(({ input }) =>
      profiles.get(input.profileId, input),
    ),

    patch: patchRoute(profile, 'PATCH /profiles/{profileId}', profilePatchInput, {
      errors: ATTACH_ERRORS,
      allow: [ownProfile],
    }).mutation(({ ctx, input: { profileId, ...patch } }) => profiles.patch(profileId, patch, ctx.identity.id)),

    avatarUploadUrl: uploadRoute('GET /profiles/{profileId}/avatar-upload-url', avatarUploadInput, {
      what: 'an avatar',
      notFound: errors.notFound,
      allow: [ownProfile],
    }).query(({ ctx, input: { profileId, ...request } }) => profiles.avatarUploadUrl(profileId, request, ctx.identity.id)),

    delete: deleteRoute(profile, 'DELETE /profiles/{profileId}', { allow: [ownProfile] }).mutation(({ input }) =>
      profiles.delete(input.profileId),
    ),

    restore: restoreRoute(profile, 'POST /profiles/{profileId}/restore', { errors: [identityErrors.notFound] }).mutation(
      ({ input }) => profiles.restore(input.profileId),
    ),

    listOfIdentity: listRoute(profile, 'GET /profiles/identities/{identityId}', identityProfileList, {
      summary: 'List the profiles of an identity, newest first',
      allow: [self('identityId')],
    }).query(({ ctx, input }) => profiles.listOfIdentity(input.identityId, askedBy(ctx, input))),
  });
}
