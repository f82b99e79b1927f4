import { admin, anyOf, authenticatedRoute, owner, router, self } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { ATTACH_ERRORS, fileErrors } from '../files/files.errors.js';
import { UploadAddressSchema } from '../files/files.schemas.js';
import { identityErrors } from '../identities/identities.errors.js';
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

/** The profile routes of the spec ("Other services"). */
export function createProfilesRouter(profiles: ProfilesService) {
  const ownProfile = anyOf(admin, owner('profileId', profiles.ownerOf));
  return router({
    create: authenticatedRoute('POST /profiles', {
      status: 201,
      summary: 'Create a profile of an identity',
      failure: 'Failed to create profile',
      errors: [identityErrors.notFound, ...ATTACH_ERRORS],
      allow: [anyOf(admin, self('identityId'))],
    })
      .input(createProfileInput)
      .output(ProfileSchema)
      .mutation(({ ctx, input }) => profiles.create(input, ctx.identity.id)),

    list: authenticatedRoute('GET /profiles', {
      summary: 'List profiles, newest first',
      failure: 'Failed to find profiles',
      errors: [listErrors.invalidNextToken],
      allow: [admin],
    })
      .input(profileList.input)
      .output(profileList.output)
      .query(({ ctx, input }) => profiles.list(askedBy(ctx, input))),

    get: authenticatedRoute('GET /profiles/{profileId}', {
      summary: 'Read a profile',
      failure: 'Failed to get profile',
      errors: [errors.notFound],
      allow: [ownProfile],
    })
      .input(profileInput)
      .output(ProfileSchema)
      .query(({ input }) => profiles.get(input.profileId)),

    patch: authenticatedRoute('PATCH /profiles/{profileId}', {
      summary: 'Change a profile',
      failure: 'Failed to update profile',
      errors: [errors.notFound, errors.nothingToUpdate, ...ATTACH_ERRORS],
      allow: [ownProfile],
    })
      .input(profilePatchInput)
      .output(ProfileSchema)
      .mutation(({ ctx, input: { profileId, ...patch } }) => profiles.patch(profileId, patch, ctx.identity.id)),

    avatarUploadUrl: authenticatedRoute('GET /profiles/{profileId}/avatar-upload-url', {
      summary: 'Get an address to upload an avatar to',
      failure: 'Failed to generate signed upload URL.',
      errors: [errors.notFound, fileErrors.tooManyUnused],
      allow: [ownProfile],
    })
      .input(avatarUploadInput)
      .output(UploadAddressSchema)
      .query(({ ctx, input: { profileId, ...request } }) => profiles.avatarUploadUrl(profileId, request, ctx.identity.id)),

    delete: authenticatedRoute('DELETE /profiles/{profileId}', {
      status: 204,
      summary: 'Delete a profile',
      failure: 'Failed to delete profile',
      errors: [errors.notFound],
      allow: [ownProfile],
    })
      .input(profileInput)
      .mutation(({ input }) => profiles.delete(input.profileId)),

    restore: authenticatedRoute('POST /profiles/{profileId}/restore', {
      summary: 'Restore a deleted profile',
      failure: 'Failed to restore profile',
      errors: [errors.notFound, identityErrors.notFound],
      allow: [admin],
    })
      .input(profileInput)
      .output(ProfileSchema)
      .mutation(({ input }) => profiles.restore(input.profileId)),

    listOfIdentity: authenticatedRoute('GET /profiles/identities/{identityId}', {
      summary: 'List the profiles of an identity, newest first',
      failure: 'Failed to find profiles',
      errors: [listErrors.invalidNextToken],
      allow: [self('identityId')],
    })
      .input(identityProfileList.input)
      .output(identityProfileList.output)
      .query(({ ctx, input }) => profiles.listOfIdentity(input.identityId, askedBy(ctx, input))),
  });
}
