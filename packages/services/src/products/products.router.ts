import { admin, anyOf, notGuest, organizationRole, router } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { attributeErrors } from '../attributes/attributes.errors.js';
import { categoryErrors } from '../categories/categories.errors.js';
import { organizationErrors } from '../organizations/organizations.errors.js';
import { ORGANIZATION_ROLES, type OrganizationRole } from '../organizations/roles.js';
import {
  createManyRoute,
  createRoute,
  deleteManyRoute,
  deleteRoute,
  listRoute,
  patchManyRoute,
  patchRoute,
  publicGetRoute,
  publicListRoute,
  restoreRoute,
} from '../shared/record-routes.js';
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

/** For records that a product refers to. */
const missing = [categoryErrors.notFound, attributeErrors.notFound, organizationErrors.notFound];

const product = { one: 'product', many: 'products', output: ProductSchema, list: productList, idInput: productInput, errors };

/** The product routes of the spec ("Other services"). Anybody may read; `product-rules.ts` says who may write. */
export function createProductsRouter({ products, rules, roleOf }: ProductsRouterOptions) {
  const memberOf = anyOf(admin, organizationRole('organizationId', ORGANIZATION_ROLES, roleOf));
  return router({
    create: createRoute(product, 'POST /products', createProductInput, {
      made: products.made,
      errors: missing,
      allow: [notGuest, rules.ofGiven],
    }).mutation(({ ctx, input }) => products.create(input, ctx.newId)),

    list: publicListRoute(product, 'GET /products', productList).query(({ ctx, input }) => products.list(askedBy(ctx, input))),

    listOfOrganization: listRoute(product, 'GET /products/organizations/{organizationId}', organizationProductList, {
      summary: 'List the products of an organization, newest first',
      allow: [memberOf],
    }).query(({ ctx, input }) => products.listOfOrganization(input.organizationId, askedBy(ctx, input))),

    get: publicGetRoute(product, 'GET /products/{productId}').query(({ input }) => products.get(input.productId, input)),

    patch: patchRoute(product, 'PATCH /products/{productId}', productPatchInput, {
      summary: 'Change a product; only an admin may change its organization',
      errors: missing,
      allow: [notGuest, rules.ofProduct, rules.keepsOrganization()],
    }).mutation(({ input: { productId, ...patch } }) => products.patch(productId, patch)),

    delete: deleteRoute(product, 'DELETE /products/{productId}', {
      summary: 'Delete a product with its variants',
      allow: [notGuest, rules.ofProduct],
    }).mutation(({ input }) => products.delete(input.productId)),

    copy: createRoute(product, 'POST /products/{productId}/copy', productInput, {
      summary: 'Copy a product, without its variants',
      made: products.made,
      failure: 'Failed to copy product',
      errors: [errors.notFound],
      allow: [notGuest, rules.ofProduct],
    }).mutation(({ ctx, input }) => products.copy(input.productId, ctx.newId)),

    restore: restoreRoute(product, 'POST /products/{productId}/restore', {
      summary: 'Restore a deleted product and the variants deleted with it',
      errors: [organizationErrors.notFound],
    }).mutation(({ input }) => products.restore(input.productId)),

    createMany: createManyRoute(product, 'POST /products/batch', createProductsInput, {
      made: (nextId, { input }) => products.manyMade(input.products.length, nextId),
      errors: [...missing, errors.manyTooLarge],
      bodyKey: 'products',
      allow: [notGuest, rules.ofEachGiven('products')],
    }).mutation(({ ctx, input }) => products.createMany(input.products, ctx.newId)),

    patchMany: patchManyRoute(product, 'PATCH /products/batch', productsPatchInput, {
      errors: [...missing, errors.manyTooLarge],
      allow: [notGuest, rules.ofProducts('ids'), rules.keepsOrganization('data')],
    }).mutation(({ input }) => products.patchMany(input.ids, input.data)),

    deleteMany: deleteManyRoute(product, 'DELETE /products/batch', productIdsInput, {
      summary: 'Delete many products with their variants, all or none',
      allow: [notGuest, rules.ofProducts('ids')],
    }).mutation(({ input }) => products.deleteMany(input.ids)),

    copyMany: createManyRoute(product, 'POST /products/batch/copy', productIdsInput, {
      summary: 'Copy many products, without their variants, all or none',
      made: (nextId, { input }) => products.manyMade(input.ids.length, nextId),
      failure: 'Failed to copy products',
      errors: [errors.manyNotFound, errors.manyTooLarge],
      bodyKey: 'ids',
      allow: [notGuest, rules.ofProducts('ids')],
    }).mutation(({ ctx, input }) => products.copyMany(input.ids, ctx.newId)),
  });
}
