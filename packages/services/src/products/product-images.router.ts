import { notGuest, router } from '@tandem/core';
import { ATTACH_ERRORS, fileErrors } from '../files/files.errors.js';
import { FileSchema } from '../files/files.schemas.js';
import { uploadRoute } from '../files/upload-route.js';
import type { ProductImagesService } from './product-images.service.js';
import type { ProductRules } from './product-rules.js';
import { createRoute, removeRoute } from '../shared/record-routes.js';
import { productErrors as errors } from './products.errors.js';
import { addImageInput, imageInput, imageUploadInput } from './products.schemas.js';

interface ProductImagesRouterOptions {
  productImages: ProductImagesService;
  rules: ProductRules;
}

const image = { one: 'product image', output: FileSchema, idInput: imageInput, errors };

/** The product image routes of the spec ("Other services"). Whoever may change a product may change its images. */
export function createProductImagesRouter({ productImages, rules }: ProductImagesRouterOptions) {
  return router({
    imageUploadUrl: uploadRoute('GET /products/{productId}/image-upload-url', imageUploadInput, {
      what: 'an image',
      notFound: errors.notFound,
      allow: [notGuest, rules.ofProduct],
    }).query(({ ctx, input: { productId, ...request } }) => productImages.uploadUrl(productId, request, ctx.identity.id)),

    addImage: createRoute(image, 'POST /products/{productId}/images', addImageInput, {
      summary: 'Add an uploaded image to a product',
      made: (_, { ctx, input: { productId, ...given } }) => productImages.attached(productId, given, ctx.identity.id),
      errors: [errors.notFound, ...ATTACH_ERRORS, fileErrors.tooMany],
      allow: [notGuest, rules.ofProduct],
    }).mutation(({ ctx, input: { productId, ...given } }) => productImages.add(productId, given, ctx.identity.id)),

    removeImage: removeRoute(image, 'DELETE /products/{productId}/images/{imageId}', {
      summary: 'Remove an image from a product and its variants',
      errors: [errors.imageNotFound],
      allow: [notGuest, rules.ofProduct],
    }).mutation(({ input }) => productImages.remove(input.productId, input.imageId)),
  });
}
