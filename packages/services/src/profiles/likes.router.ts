import { admin, anyOf, authenticatedRoute, owner, router } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { productErrors } from '../products/products.errors.js';
import { ProductLikeSchema, productLikeInput, productLikeList, productLikerList } from './likes.schemas.js';
import type { LikesService } from './likes.service.js';
import { profileErrors as errors } from './profiles.errors.js';

interface LikesRouterOptions {
  likes: LikesService;
  /** The identity that owns a profile. */
  ownerOf(profileId: string): Promise<string | undefined>;
}

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

    unlikeProduct: authenticatedRoute('DELETE /profiles/{profileId}/product-likes/{likeProductId}', {
      status: 204,
      summary: 'Unlike a product',
      failure: 'Failed to delete product like',
      errors: [errors.notFound, productErrors.notFound, errors.productNotLiked],
      allow: [ownProfile],
    })
      .input(productLikeInput)
      .mutation(({ input }) => likes.unlike(input.profileId, input.likeProductId)),

    listProductLikes: authenticatedRoute('GET /profiles/{profileId}/product-likes', {
      summary: 'List the products that a profile likes, newest first',
      failure: 'Failed to find product likes',
      errors: [listErrors.invalidNextToken],
      allow: [ownProfile],
    })
      .input(productLikeList.input)
      .output(productLikeList.output)
      .query(({ ctx, input }) => likes.list(input.profileId, askedBy(ctx, input))),
  });
}

/** Lists a product's likers; part of the products router. */
export function createLikersRouter(likes: LikesService) {
  return router({
    listLikers: authenticatedRoute('GET /products/{productId}/likers', {
      summary: 'List the profiles that like a product, latest first',
      failure: 'Failed to find profiles',
      errors: [productErrors.notFound, listErrors.invalidNextToken],
      allow: [admin],
    })
      .input(productLikerList.input)
      .output(productLikerList.output)
      .query(({ ctx, input }) => likes.listLikers(input.productId, askedBy(ctx, input))),
  });
}
