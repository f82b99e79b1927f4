import { defineList, relatedOne } from '@tandem/lists';
import { z } from 'zod';
import { productKind } from '../products/products.schemas.js';
import { Id } from '../shared/schemas.js';
import { followers, relationFields, relationResources } from './relations.schemas.js';

export const productLikeResources = relationResources('productLikes', 'likeProductId');

export const ProductLikeSchema = z.object({ ...relationFields, likeProductId: Id }).meta({ id: 'ProductLike' });
export const productLikeList = defineList(productLikeResources.ofProfile, {
  row: ProductLikeSchema,
  own: { profileId: Id },
  relations: { product: relatedOne(productKind, 'likeProductId') },
});
export const productLikerList = defineList(productLikeResources.profiles, { ...followers, own: { productId: Id } });

export const productLikeInput = z.strictObject({ profileId: Id, likeProductId: Id });
