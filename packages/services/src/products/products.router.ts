import { admin, anyOf, authenticatedRoute, notGuest, organizationRole, publicRoute, router } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { z } from 'zod';
import { attributeErrors } from '../attributes/attributes.errors.js';
import { categoryErrors } from '../categories/categories.errors.js';
import { organizationErrors } from '../organizations/organizations.errors.js';
import { ORGANIZATION_ROLES, type OrganizationRole } from '../organizations/roles.js';
import type { ProductRules } from './product-rules.js';
import { productErrors as errors } from './products.errors.js';
import {
  ProductSchema,
  createProductInput,
  createProductsInput,
  organizationProductList,
  productIdsInput,
  productInput,
  productList,
  productPatchInput,
  productsPatchInput,
} from './products.schemas.js';
import type { ProductsService } from './products.service.js';

interface ProductsRouterOptions {
  products: ProductsService;
  rules: ProductRules;
  roleOf(organizationId: string, identityId: string): Promise<OrganizationRole | undefined>;
}

const Products = z.array(ProductSchema);
/** For records that a product refers to. */
const missing = [categoryErrors.notFound, attributeErrors.notFound, organizationErrors.notFound];

/** The product routes of the spec ("Other services"). Anybody may read; `product-rules.ts` says who may write. */
export function createProductsRouter({ products, rules, roleOf }: ProductsRouterOptions) {
  const memberOf = anyOf(admin, organizationRole('organizationId', ORGANIZATION_ROLES, roleOf));
  return router({
    create: authenticatedRoute('POST /products', {
      status: 201,
      summary: 'Create a product',
      failure: 'Failed to create product',
      errors: missing,
      allow: [notGuest, rules.ofGiven],
    })
      .input(createProductInput)
      .output(ProductSchema)
      .mutation(({ input }) => products.create(input)),

    list: publicRoute('GET /products', {
      summary: 'List products, newest first',
      failure: 'Failed to find products',
      errors: [listErrors.invalidNextToken],
    })
      .input(productList.input)
      .output(productList.output)
      .query(({ ctx, input }) => products.list(askedBy(ctx, input))),

    listOfOrganization: authenticatedRoute('GET /products/organizations/{organizationId}', {
      summary: 'List the products of an organization, newest first',
      failure: 'Failed to find products',
      errors: [listErrors.invalidNextToken],
      allow: [memberOf],
    })
      .input(organizationProductList.input)
      .output(organizationProductList.output)
      .query(({ ctx, input }) => products.listOfOrganization(input.organizationId, askedBy(ctx, input))),

    get: publicRoute('GET /products/{productId}', {
      summary: 'Read a product',
      failure: 'Failed to get product',
      errors: [errors.notFound],
    })
      .input(productInput)
      .output(ProductSchema)
      .query(({ input }) => products.get(input.productId)),

    patch: authenticatedRoute('PATCH /products/{productId}', {
      summary: 'Change a product; only an admin may change its organization',
      failure: 'Failed to update product',
      errors: [errors.notFound, errors.nothingToUpdate, ...missing],
      allow: [notGuest, rules.ofProduct, rules.keepsOrganization()],
    })
      .input(productPatchInput)
      .output(ProductSchema)
      .mutation(({ input: { productId, ...patch } }) => products.patch(productId, patch)),

    delete: authenticatedRoute('DELETE /products/{productId}', {
      status: 204,
      summary: 'Delete a product with its variants',
      failure: 'Failed to delete product',
      errors: [errors.notFound],
      allow: [notGuest, rules.ofProduct],
    })
      .input(productInput)
      .mutation(({ input }) => products.delete(input.productId)),

    copy: authenticatedRoute('POST /products/{productId}/copy', {
      status: 201,
      summary: 'Copy a product, without its variants',
      failure: 'Failed to copy product',
      errors: [errors.notFound],
      allow: [notGuest, rules.ofProduct],
    })
      .input(productInput)
      .output(ProductSchema)
      .mutation(({ input }) => products.copy(input.productId)),

    restore: authenticatedRoute('POST /products/{productId}/restore', {
      summary: 'Restore a deleted product and the variants deleted with it',
      failure: 'Failed to restore product',
      errors: [errors.notFound, organizationErrors.notFound],
      allow: [admin],
    })
      .input(productInput)
      .output(ProductSchema)
      .mutation(({ input }) => products.restore(input.productId)),

    createMany: authenticatedRoute('POST /products/batch', {
      status: 201,
      summary: 'Create many products, all or none',
      failure: 'Failed to create products',
      errors: missing,
      bodyKey: 'products',
      allow: [notGuest, rules.ofEachGiven('products')],
    })
      .input(createProductsInput)
      .output(Products)
      .mutation(({ input }) => products.createMany(input.products)),

    patchMany: authenticatedRoute('PATCH /products/batch', {
      summary: 'Make the same change to many products, all or none',
      failure: 'Failed to update products',
      errors: [errors.manyNotFound, errors.nothingToUpdateInMany, ...missing],
      allow: [notGuest, rules.ofProducts('ids'), rules.keepsOrganization('data')],
    })
      .input(productsPatchInput)
      .output(Products)
      .mutation(({ input }) => products.patchMany(input.ids, input.data)),

    deleteMany: authenticatedRoute('DELETE /products/batch', {
      status: 204,
      summary: 'Delete many products with their variants, all or none',
      failure: 'Failed to delete products',
      errors: [errors.manyNotFound],
      bodyKey: 'ids',
      allow: [notGuest, rules.ofProducts('ids')],
    })
      .input(productIdsInput)
      .mutation(({ input }) => products.deleteMany(input.ids)),

    copyMany: authenticatedRoute('POST /products/batch/copy', {
      status: 201,
      summary: 'Copy many products, without their variants, all or none',
      failure: 'Failed to copy products',
      errors: [errors.manyNotFound],
      bodyKey: 'ids',
      allow: [notGuest, rules.ofProducts('ids')],
    })
      .input(productIdsInput)
      .output(Products)
      .mutation(({ input }) => products.copyMany(input.ids)),
  });
}
