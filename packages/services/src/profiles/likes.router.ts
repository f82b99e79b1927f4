import { admin, anyOf, authenticatedRoute, owner, router } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { productErrors } from '../products/products.errors.js';
import { listRoute, removeRoute } from '../shared/record-routes.js';
import { ProductLikeSchema, productLikeInput, productLikeList, productLikerList } from './likes.schemas.js';
import type { LikesService } from './likes.service.js';
import { profileErrors as errors } from './profiles.errors.js';

interface LikesRouterOptions {
  likes: LikesService;
  /** The identity that owns a profile. */
  ownerOf(profileId: string): Promise<string | undefined>;
}

const like = { one: 'product like', many: 'product likes', idInput: productLikeInput, errors };

/** The product like routes of the spec ("Other services"), part of the profiles router. */
export function createLikesRouter({ likes, ownerOf }: LikesRouterOptions) {
  const ownProfile = anyOf(admin, owner('profileId', ownerOf));
  return router({
    likeProduct: authenticatedRoute('PUT /profiles/{profileId}/product-likes/{likeProductId}', {
      status: 201,
      summary: 'Like a product',
      failure: 'Failed to create product like',
      errors: [errors.notFound, productErrors.notFound, errors.productLiked],
      allow: [ownProfile],
    })
      .input(productLikeInput)
      .output(ProductLikeSchema)
      .mutation(({ input }) => likes.like(input.profileId, input.likeProductId)),

    unlikeProduct: removeRoute(like, 'DELETE /profiles/{profileId}/product-likes/{likeProductId}', {
      summary: 'Unlike a product',
      errors: [productErrors.notFound, errors.productNotLiked],
      allow: [ownProfile],
    }).mutation(({ input }) => likes.unlike(input.profileId, input.likeProductId)),

    listProductLikes: listRoute(like, 'GET /profiles/{profileId}/product-likes', productLikeList, {
      summary: 'List the products that a profile likes, newest first',
      allow: [ownProfile],
    }).query(({ ctx, input }) => likes.list(input.profileId, askedBy(ctx, input))),
  });
}

/** Lists a product's likers; part of the products router. */
export function createLikersRouter(likes: LikesService) {
  return router({
    listLikers: listRoute({ many: 'profiles' }, 'GET /products/{productId}/likers', productLikerList, {
      summary: 'List the profiles that like a product, latest first',
      errors: [productErrors.notFound],
      allow: [admin],
    }).query(({ ctx, input }) => likes.listLikers(input.productId, askedBy(ctx, input))),
  });
}
