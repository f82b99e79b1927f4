import { defineListResource } from '@tandem/list-query';
import { defineList } from '@tandem/lists';
import { DELETION_FIELDS } from '@tandem/storage';
import { z } from 'zod';
import { IMAGE_TYPES } from '../files/file-types.js';
import { FileSchema, GivenFileSchema, uploadParameters } from '../files/files.schemas.js';
import { Id, Name, Timestamp } from '../shared/schemas.js';

export const ProfileSchema = z
  .object({
    id: Id,
    identityId: z.string(),
    name: z.string(),
    avatar: FileSchema.nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Profile' });
export type Profile = z.infer<typeof ProfileSchema>;

export const profileResource = defineListResource({
  name: 'profiles',
  fields: { identityId: 'string', name: 'string', createdAt: 'date', updatedAt: 'date' },
  hidden: ['notes', ...DELETION_FIELDS],
  defaultOrder: 'createdAt desc, id desc',
});
export const profileList = defineList(profileResource, { row: ProfileSchema, equal: { identityId: Id, name: Name } });
export const identityProfileList = defineList(profileResource, { row: ProfileSchema, own: { identityId: Id } });

export const profileInput = z.strictObject({ profileId: Id });

export const avatarUploadInput = z.strictObject({ profileId: Id, ...uploadParameters(IMAGE_TYPES) });

export const createProfileInput = z.strictObject({
  identityId: Id,
  name: Name,
  avatar: GivenFileSchema.nullable().optional(),
});
export type NewProfile = z.infer<typeof createProfileInput>;

/** The fields that may change; the identity may not (decisions R3). */
export const profilePatchInput = z.strictObject({
  profileId: Id,
  name: Name.optional(),
  avatar: GivenFileSchema.nullable().optional(),
});
export type ProfilePatch = Omit<z.infer<typeof profilePatchInput>, 'profileId'>;
