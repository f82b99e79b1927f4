import type { ListResource } from '@tandem/list-query';
import { listIndexes } from '@tandem/lists';
import { defineModel, deletionFields, type Deletable, type ModelDefinition } from '@tandem/storage';
import { organizationFollowResources, profileFollowResources } from './follows.schemas.js';
import { productLikeResources } from './likes.schemas.js';

/**
 * A follow or like of a profile; one record per pair (decisions R4). Unfollowing removes the record. `deletedAt` only hides it
 * while the profile is deleted.
 */
export type RelationRecord<Key extends string = string> = Deletable & {
  profileId: string;
} & Record<Key, string>;

/** @param key the field with the id of the followed or liked record @param target the collection of that */
function defineRelation<Key extends string>(
  collectionName: string,
  key: Key,
  target: string,
  { ofProfile, profiles }: { ofProfile: ListResource; profiles: ListResource },
): ModelDefinition<RelationRecord<Key>> {
  return defineModel<RelationRecord<Key>>(collectionName, {
    fields: {
      profileId: { type: String, required: true },
      [key]: { type: String, required: true },
      ...deletionFields,
    },
    cascades: [{ with: 'profiles', by: 'profileId' }],
    goesWith: [{ with: target, by: key }],
    indexes: [
      {
        keys: { profileId: 1, [key]: 1 },
        unique: true,
        deletedToo: true,
        serves: 'one for each pair; what hides with a profile',
      },
      { keys: { [key]: 1 }, deletedToo: true, serves: 'what goes for good with a target' },
      // for the followers or likers of a target
      ...listIndexes(profiles, { within: [key] }),
      // for the follows or likes of a profile
      ...listIndexes(ofProfile, { within: ['profileId'] }),
    ],
  });
}

export const profileFollowModel = defineRelation('profileFollows', 'followProfileId', 'profiles', profileFollowResources);
export const organizationFollowModel = defineRelation(
  'organizationFollows',
  'followOrganizationId',
  'organizations',
  organizationFollowResources,
);
export const productLikeModel = defineRelation('productLikes', 'likeProductId', 'products', productLikeResources);
