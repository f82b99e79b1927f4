import { defineList, relatedOne } from '@tandem/lists';
import { deletionFields } from '@tandem/storage';
import { z } from 'zod';
import { IMAGE_TYPES } from '../files/file-types.js';
import { FileSchema, GivenFileSchema, uploadParameters } from '../files/files.schemas.js';
import { personKind } from '../people/people.schemas.js';
import { metadataField } from '../shared/metadata.js';
import { defineRecord, field } from '../shared/record.js';
import { Id, Name } from '../shared/schemas.js';
import { notesField } from '../shared/unit-notes.js';

export const profileRecord = defineRecord('profiles', {
  fields: {
    identityId: field(Id.describe('The identity whose profile it is.'), { fixed: true, list: 'string' }),
    name: field(Name.describe('The name that others see.'), { list: 'string' }),
    metadata: metadataField,
    avatar: field(GivenFileSchema.nullable().describe('The picture that others see.'), {
      shown: FileSchema.nullable(),
      stored: false,
    }),
  },
  searched: ['name'],
  internal: { notes: notesField, ...deletionFields },
});
export const ProfileSchema = profileRecord.schema.meta({ id: 'Profile' });
export type Profile = z.infer<typeof ProfileSchema>;

const shown = { row: ProfileSchema, relations: { person: relatedOne(personKind, 'identityId') } };
export const profileList = defineList(profileRecord.resource, { ...shown, equal: { identityId: Id, name: Name } });
export const identityProfileList = defineList(profileRecord.resource, { ...shown, own: { identityId: Id } });

export const profileInput = z.strictObject({ profileId: Id });

export const avatarUploadInput = z.strictObject({ profileId: Id, ...uploadParameters(IMAGE_TYPES) });

export const createProfileInput = z.strictObject(profileRecord.given);
export type NewProfile = z.infer<typeof createProfileInput>;

export const profilePatchInput = z.strictObject({ profileId: Id, ...profileRecord.patch });
export type ProfilePatch = Omit<z.infer<typeof profilePatchInput>, 'profileId'>;
