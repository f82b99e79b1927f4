import { notGuest, router } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import type { ProductRules } from '../products/product-rules.js';
import { productErrors } from '../products/products.errors.js';
import {
  createManyRoute,
  createRoute,
  deleteManyRoute,
  deleteRoute,
  getRoute,
  patchManyRoute,
  patchRoute,
  publicListRoute,
  restoreRoute,
} from '../shared/record-routes.js';
import { productVariantErrors as errors } from './product-variants.errors.js';
import {
  ProductVariantSchema,
  createVariantInput,
  createVariantsInput,
  deleteVariantsInput,
  productVariantInput,
  productVariantList,
  variantPatchInput,
  variantsPatchInput,
} from './product-variants.schemas.js';
import type { ProductVariantsService } from './product-variants.service.js';

interface ProductVariantsRouterOptions {
  variants: ProductVariantsService;
  rules: ProductRules;
}

const variant = {
  one: 'product variant',
  many: 'product variants',
  output: ProductVariantSchema,
  list: productVariantList,
  idInput: productVariantInput,
  errors,
};

/** The variant routes of the spec ("Other services"; decisions R10). Whoever may change a product may change its variants. */
export function createProductVariantsRouter({ variants, rules }: ProductVariantsRouterOptions) {
  return router({
    create: createRoute(variant, 'POST /products/{productId}/variants', createVariantInput, {
      summary: 'Create a variant of a product',
      made: variants.made,
      errors: [productErrors.notFound, productErrors.imageNotFound],
      allow: [notGuest, rules.ofProduct],
    }).mutation(({ ctx, input: { productId, ...variant } }) => variants.create(productId, variant, ctx.newId)),

    list: publicListRoute(variant, 'GET /products/{productId}/variants', productVariantList, {
      summary: 'List the variants of a product, newest first',
      errors: [productErrors.notFound],
    }).query(({ ctx, input }) => variants.list(input.productId, askedBy(ctx, input))),

    get: getRoute(variant, 'GET /products/{productId}/variants/{productVariantId}', { summary: 'Read a variant' }).query(
      ({ input }) => variants.get(input.productId, input.productVariantId, input),
    ),

    patch: patchRoute(variant, 'PATCH /products/{productId}/variants/{productVariantId}', variantPatchInput, {
      summary: 'Change a variant',
      errors: [productErrors.imageNotFound],
      allow: [notGuest, rules.ofProduct],
    }).mutation(({ input: { productId, productVariantId, ...patch } }) => variants.patch(productId, productVariantId, patch)),

    delete: deleteRoute(variant, 'DELETE /products/{productId}/variants/{productVariantId}', {
      summary: 'Delete a variant',
      allow: [notGuest, rules.ofProduct],
    }).mutation(({ input }) => variants.delete(input.productId, input.productVariantId)),

    restore: restoreRoute(variant, 'POST /products/{productId}/variants/{productVariantId}/restore', {
      summary: 'Restore a deleted variant',
    }).mutation(({ input }) => variants.restore(input.productId, input.productVariantId)),

    createMany: createManyRoute(variant, 'POST /product/{productId}/variants/bulk', createVariantsInput, {
      summary: 'Create many variants of a product, all or none',
      made: (nextId, { input }) => variants.manyMade(input.variants.length, nextId),
      errors: [productErrors.notFound, productErrors.imageNotFound, errors.manyTooLarge],
      bodyKey: 'variants',
      allow: [notGuest, rules.ofProduct],
    }).mutation(({ ctx, input }) => variants.createMany(input.productId, input.variants, ctx.newId)),

    patchMany: patchManyRoute(variant, 'PATCH /product/{productId}/variants/bulk', variantsPatchInput, {
      summary: 'Change many variants of a product alike, all or none',
      errors: [productErrors.imageNotFound, errors.manyTooLarge],
      allow: [notGuest, rules.ofProduct],
    }).mutation(({ input }) => variants.patchMany(input.productId, input.ids, input.data)),

    deleteMany: deleteManyRoute(variant, 'POST /product/{productId}/variants/bulk-delete', deleteVariantsInput, {
      summary: 'Delete many variants of a product, all or none',
      allow: [notGuest, rules.ofProduct],
    }).mutation(({ input }) => variants.deleteMany(input.productId, input.ids)),
  });
}
