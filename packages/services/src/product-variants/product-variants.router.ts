import { admin, authenticatedRoute, notGuest, publicRoute, router } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { z } from 'zod';
import type { ProductRules } from '../products/product-rules.js';
import { productErrors } from '../products/products.errors.js';
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

const Variants = z.array(ProductVariantSchema);

/** The variant routes of the spec ("Other services"; decisions R10). Whoever may change a product may change its variants. */
export function createProductVariantsRouter({ variants, rules }: ProductVariantsRouterOptions) {
  return router({
    create: authenticatedRoute('POST /products/{productId}/variants', {
      status: 201,
      summary: 'Create a variant of a product',
      failure: 'Failed to create product variant',
      errors: [productErrors.notFound, productErrors.imageNotFound],
      allow: [notGuest, rules.ofProduct],
    })
      .input(createVariantInput)
      .output(ProductVariantSchema)
      .mutation(({ input: { productId, ...variant } }) => variants.create(productId, variant)),

    list: publicRoute('GET /products/{productId}/variants', {
      summary: 'List the variants of a product, newest first',
      failure: 'Failed to find product variants',
      errors: [productErrors.notFound, listErrors.invalidNextToken],
    })
      .input(productVariantList.input)
      .output(productVariantList.output)
      .query(({ ctx, input }) => variants.list(input.productId, askedBy(ctx, input))),

    get: authenticatedRoute('GET /products/{productId}/variants/{productVariantId}', {
      summary: 'Read a variant',
      failure: 'Failed to get product variant',
      errors: [errors.notFound],
    })
      .input(productVariantInput)
      .output(ProductVariantSchema)
      .query(({ input }) => variants.get(input.productId, input.productVariantId)),

    patch: authenticatedRoute('PATCH /products/{productId}/variants/{productVariantId}', {
      summary: 'Change a variant',
      failure: 'Failed to update product variant',
      errors: [errors.notFound, errors.nothingToUpdate, productErrors.imageNotFound],
      allow: [notGuest, rules.ofProduct],
    })
      .input(variantPatchInput)
      .output(ProductVariantSchema)
      .mutation(({ input: { productId, productVariantId, ...patch } }) => variants.patch(productId, productVariantId, patch)),

    delete: authenticatedRoute('DELETE /products/{productId}/variants/{productVariantId}', {
      status: 204,
      summary: 'Delete a variant',
      failure: 'Failed to delete product variant',
      errors: [errors.notFound],
      allow: [notGuest, rules.ofProduct],
    })
      .input(productVariantInput)
      .mutation(({ input }) => variants.delete(input.productId, input.productVariantId)),

    restore: authenticatedRoute('POST /products/{productId}/variants/{productVariantId}/restore', {
      summary: 'Restore a deleted variant',
      failure: 'Failed to restore product variant',
      errors: [errors.notFound],
      allow: [admin],
    })
      .input(productVariantInput)
      .output(ProductVariantSchema)
      .mutation(({ input }) => variants.restore(input.productId, input.productVariantId)),

    createMany: authenticatedRoute('POST /product/{productId}/variants/bulk', {
      status: 201,
      summary: 'Create many variants of a product, all or none',
      failure: 'Failed to create product variants',
      errors: [productErrors.notFound, productErrors.imageNotFound],
      bodyKey: 'variants',
      allow: [notGuest, rules.ofProduct],
    })
      .input(createVariantsInput)
      .output(Variants)
      .mutation(({ input }) => variants.createMany(input.productId, input.variants)),

    patchMany: authenticatedRoute('PATCH /product/{productId}/variants/bulk', {
      summary: 'Make the same change to many variants of a product, all or none',
      failure: 'Failed to update product variants',
      errors: [errors.manyNotFound, errors.nothingToUpdateInMany, productErrors.imageNotFound],
      allow: [notGuest, rules.ofProduct],
    })
      .input(variantsPatchInput)
      .output(Variants)
      .mutation(({ input }) => variants.patchMany(input.productId, input.ids, input.data)),

    deleteMany: authenticatedRoute('POST /product/{productId}/variants/bulk-delete', {
      status: 204,
      summary: 'Delete many variants of a product, all or none',
      failure: 'Failed to delete product variants',
      errors: [errors.manyNotFound],
      bodyKey: 'ids',
      allow: [notGuest, rules.ofProduct],
    })
      .input(deleteVariantsInput)
      .mutation(({ input }) => variants.deleteMany(input.productId, input.ids)),
  });
}
