import type { ListQuery, Lists } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import { productErrors } from '../products/products.errors.js';
import type { Attachments } from '../files/attachments.js';
import { createFollowerCounts } from './follower-counts.js';
import { createFollowers } from './followers.js';
import { productLikeList, productLikerList } from './likes.schemas.js';
import { profileErrors as errors } from './profiles.errors.js';
import { productLikeModel } from './relation.model.js';
import { createRelation, showRelation } from './relations.js';

export type LikesService = ReturnType<typeof createLikesService>;

interface LikesOptions {
  storage: Storage;
  lists: Lists;
  /** Avatars of profiles. */
  avatars: Attachments;
  productExists(productId: string): Promise<boolean>;
}

/** Product likes of profiles (decisions R4). */
export function createLikesService({ storage, lists, avatars, productExists }: LikesOptions) {
  const counts = createFollowerCounts(storage.clock);
  const likers = createFollowers({ storage, lists, counts, avatars });
  const likes = createRelation({
    storage,
    definition: productLikeModel,
    key: 'likeProductId',
    counts,
    targetExists: productExists,
    errors: { noTarget: productErrors.notFound, present: errors.productLiked, missing: errors.productNotLiked },
  });

  return {
    like: likes.add,
    unlike: likes.remove,

    /** The products that a profile likes, newest first. */
    list: (profileId: string, query: ListQuery) =>
      lists.answer(productLikeList, likes.model, { scope: { profileId }, show: showRelation }, query),

    /** The profiles that like a product, latest first. @throws productErrors.notFound */
    async listLikers(productId: string, query: ListQuery) {
      if (!(await productExists(productId))) throw productErrors.notFound();
      return likers.list({ list: productLikerList, model: likes.model, key: 'likeProductId', targetId: productId }, query);
    },
  };
}
