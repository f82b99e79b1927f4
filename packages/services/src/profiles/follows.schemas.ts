import { defineList, relatedOne } from '@tandem/lists';
import { z } from 'zod';
import { organizationKind } from '../organizations/organizations.schemas.js';
import { personOfProfileKind } from '../people/people.schemas.js';
import { Id } from '../shared/schemas.js';
import { followers, relationFields, relationResources } from './relations.schemas.js';

export const profileFollowResources = relationResources('profileFollows', 'followProfileId');
export const organizationFollowResources = relationResources('organizationFollows', 'followOrganizationId');

export const profileFollowList = defineList(profileFollowResources.ofProfile, {
  row: z.object({ ...relationFields, followProfileId: Id }),
  relations: { followed: relatedOne(personOfProfileKind, 'followProfileId') },
  own: { profileId: Id },
});
export const organizationFollowList = defineList(organizationFollowResources.ofProfile, {
  row: z.object({ ...relationFields, followOrganizationId: Id }),
  relations: { followed: relatedOne(organizationKind, 'followOrganizationId') },
  own: { profileId: Id },
});
export const profileFollowerList = defineList(profileFollowResources.profiles, {
  ...followers,
  own: { profileId: Id },
});
export const organizationFollowerList = defineList(organizationFollowResources.profiles, {
  ...followers,
  own: { organizationId: Id },
});

export const profileFollowInput = z.strictObject({ profileId: Id, followProfileId: Id });
export const organizationFollowInput = z.strictObject({ profileId: Id, followOrganizationId: Id });
