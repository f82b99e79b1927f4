import { defineListResource } from '@tandem/list-query';
import { z } from 'zod';
import { defineList } from '../shared/list-declaration.js';
import { Id, Timestamp } from '../shared/schemas.js';

/** What may be asked of relations of one kind: those of a profile, and the profiles at their beginning. */
function relationResources<Key extends string>(name: string, key: Key) {
  const times = { createdAt: 'date', updatedAt: 'date' } as const;
  const shared = { name, hidden: ['deletionId'], defaultOrder: 'createdAt desc, id desc' };
  const target = { [key]: 'string' } as Record<Key, 'string'>;
  return {
    ofProfile: defineListResource({ ...shared, fields: { ...target, ...times } }),
    /** A row is a profile, with its id; the times are those of the relation. */
    profiles: defineListResource({ ...shared, fields: { id: { type: 'string', stored: 'profileId' }, createdAt: 'date' } }),
  };
}

export const profileFollowResources = relationResources('profileFollows', 'followProfileId');
export const organizationFollowResources = relationResources('organizationFollows', 'followOrganizationId');

/** What followers show of themselves, and since when they follow. */
export const FollowerSchema = z.object({ id: Id, name: z.string(), createdAt: Timestamp }).meta({ id: 'Follower' });
export type Follower = z.infer<typeof FollowerSchema>;

const base = { id: Id, profileId: Id, createdAt: Timestamp, updatedAt: Timestamp };
export const profileFollowList = defineList(profileFollowResources.ofProfile, {
  row: z.object({ ...base, followProfileId: Id }),
  own: { profileId: Id },
});
export const organizationFollowList = defineList(organizationFollowResources.ofProfile, {
  row: z.object({ ...base, followOrganizationId: Id }),
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
