import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { Id } from '../shared/schemas.js';
import { FollowerSchema, relationFields, relationResources } from './relations.schemas.js';

export const profileFollowResources = relationResources('profileFollows', 'followProfileId');
export const organizationFollowResources = relationResources('organizationFollows', 'followOrganizationId');

export const profileFollowList = defineList(profileFollowResources.ofProfile, {
  row: z.object({ ...relationFields, followProfileId: Id }),
  own: { profileId: Id },
});
export const organizationFollowList = defineList(organizationFollowResources.ofProfile, {
  row: z.object({ ...relationFields, followOrganizationId: Id }),
  own: { profileId: Id },
});
export const profileFollowerList = defineList(profileFollowResources.profiles, {
  row: FollowerSchema,
  own: { profileId: Id },
});
export const organizationFollowerList = defineList(organizationFollowResources.profiles, {
  row: FollowerSchema,
  own: { organizationId: Id },
});

export const profileFollowInput = z.strictObject({ profileId: Id, followProfileId: Id });
export const organizationFollowInput = z.strictObject({ profileId: Id, followOrganizationId: Id });
