import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { Id } from '../shared/schemas.js';
import { FollowerSchema, relationFields, relationResources } from './relations.schemas.js';

export const productLikeResources = relationResources('productLikes', 'likeProductId');

export const ProductLikeSchema = z.object({ ...relationFields, likeProductId: Id }).meta({ id: 'ProductLike' });
export const productLikeList = defineList(productLikeResources.ofProfile, { row: ProductLikeSchema, own: { profileId: Id } });
export const productLikerList = defineList(productLikeResources.profiles, { row: FollowerSchema, own: { productId: Id } });

export const productLikeInput = z.strictObject({ profileId: Id, likeProductId: Id });
