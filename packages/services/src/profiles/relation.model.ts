import type { ListResource } from '@tandem/list-query';
import { defineModel, type Live, type ModelDefinition } from '@tandem/storage';
import { listIndexes } from '../shared/list-indexes.js';
import { organizationFollowResources, profileFollowResources } from './follows.schemas.js';
import { productLikeResources } from './likes.schemas.js';

/**
 * That a profile follows or likes something: one record for each pair (decisions R4). Taken back it is removed for real; `deletedAt` only hides
 * it while its profile is deleted.
 */
export type RelationRecord<Key extends string = string> = Live & {
  profileId: string;
  /** Of the deletion that hid it last; null while there was none. */
  deletionId: string | null;
} & Record<Key, string>;

/** @param key the field with the id of what is followed or liked */
function defineRelation<Key extends string>(
  collectionName: string,
  key: Key,
  { ofProfile, profiles }: { ofProfile: ListResource; profiles: ListResource },
): ModelDefinition<RelationRecord<Key>> {
  return defineModel<RelationRecord<Key>>(collectionName, {
    fields: {
      profileId: { type: String, required: true },
      [key]: { type: String, required: true },
      deletionId: { type: String, default: null },
    },
    indexes: [
      {
        keys: { profileId: 1, [key]: 1 },
        unique: true,
        deletedToo: true,
        serves: 'one for each pair; what hides with a profile',
      },
      // who follows or likes it
      ...listIndexes(profiles, { within: [key] }),
      // what a profile follows or likes
      ...listIndexes(ofProfile, { within: ['profileId'] }),
    ],
  });
}

export const profileFollowModel = defineRelation('profileFollows', 'followProfileId', profileFollowResources);
export const organizationFollowModel = defineRelation('organizationFollows', 'followOrganizationId', organizationFollowResources);
export const productLikeModel = defineRelation('productLikes', 'likeProductId', productLikeResources);
