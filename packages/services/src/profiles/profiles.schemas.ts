import { z } from 'zod';
import { Id, Timestamp, pageOf, pageParameters } from '../shared/schemas.js';

const Name = z.string().trim().min(1).max(200);

export const ProfileSchema = z
  .object({ id: Id, identityId: z.string(), name: z.string(), createdAt: Timestamp, updatedAt: Timestamp })
  .meta({ id: 'Profile' });
export type Profile = z.infer<typeof ProfileSchema>;
export const ProfilePageSchema = z.compile(pageOf(ProfileSchema));

export const profileInput = z.strictObject({ profileId: Id });
export const profileListInput = z.strictObject(pageParameters);
export const identityProfilesInput = z.strictObject({ identityId: Id, ...pageParameters });

export const createProfileInput = z.strictObject({ identityId: Id, name: Name });
export type NewProfile = z.infer<typeof createProfileInput>;

/** What may be changed; an identity keeps its profiles (decisions R3). */
export const profilePatchInput = z.strictObject({ profileId: Id, name: Name.optional() });
export type ProfilePatch = Omit<z.infer<typeof profilePatchInput>, 'profileId'>;
