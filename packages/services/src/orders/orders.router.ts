import { admin, anyOf, defineRule, notGuest, organizationRole, owner, router, ruleErrors, self } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { identityErrors } from '../identities/identities.errors.js';
import { organizationErrors } from '../organizations/organizations.errors.js';
import { ORGANIZATION_ROLES, type OrganizationRole } from '../organizations/roles.js';
import { productVariantErrors } from '../product-variants/product-variants.errors.js';
import { productErrors } from '../products/products.errors.js';
import { actorOf } from '../shared/actor.js';
import { createRoute, deleteRoute, getRoute, listRoute, moveRoute, patchRoute, restoreRoute } from '../shared/record-routes.js';
import { orderErrors as errors } from './orders.errors.js';
import {
  ExpandableOrderSchema,
  OrderSchema,
  createOrderInput,
  orderInput,
  orderList,
  orderPatchInput,
  organizationOrderList,
} from './orders.schemas.js';
import type { OrdersService } from './orders.service.js';

interface OrdersRouterOptions {
  orders: OrdersService;
  organizations: { roleOf(organizationId: string, identityId: string): Promise<OrganizationRole | undefined> };
}

const order = { one: 'order', many: 'orders', output: OrderSchema, idInput: orderInput, errors };
const expandable = { ...order, output: ExpandableOrderSchema, list: orderList };

/** The order routes of the spec ("Other services"; decisions R5, R6). */
export function createOrdersRouter({ orders, organizations }: OrdersRouterOptions) {
  /** Requires a role in the order's organization. */
  const inItsOrganization = defineRule(
    "a member of the order's organization",
    [ruleErrors.notMember],
    async ({ ctx, valueOf }) => {
      const orderId = await valueOf('orderId');
      const organizationId = orderId === undefined ? undefined : await orders.organizationOf(orderId);
      const role = organizationId ? await organizations.roleOf(organizationId, ctx.identity.id) : undefined;
      if (role === undefined) throw ruleErrors.notMember();
    },
  );
  const own = owner('orderId', orders.buyerOf, 'the buyer');

  return router({
    create: createRoute(order, 'POST /orders', createOrderInput, {
      summary: 'Create an order; the server computes its amounts',
      errors: [
        errors.notFound,
        productErrors.notFound,
        productVariantErrors.notFound,
        organizationErrors.notFound,
        identityErrors.notFound,
      ],
      made: (anId, { ctx }) => orders.made(anId, actorOf(ctx).isAdmin),
      allow: [anyOf(admin, self('identityId')), notGuest],
    }).mutation(({ ctx, input }) => orders.create(input, actorOf(ctx), ctx.newId?.())),

    list: listRoute(order, 'GET /orders', orderList, {
      summary: 'List the orders of an identity, newest first; admins can list all',
      allow: [anyOf(admin, self('identityId'))],
    }).query(({ ctx, input }) => orders.list(input.identityId, askedBy(ctx, input))),

    listOfOrganization: listRoute(order, 'GET /orders/organizations/{organizationId}', organizationOrderList, {
      summary: 'List the orders of an organization, newest first',
      allow: [anyOf(admin, organizationRole('organizationId', ORGANIZATION_ROLES, organizations.roleOf))],
    }).query(({ ctx, input }) => orders.listOfOrganization(input.organizationId, askedBy(ctx, input))),

    get: getRoute(expandable, 'GET /orders/{orderId}', { allow: [anyOf(admin, own, inItsOrganization)] }).query(({ input }) =>
      orders.get(input.orderId, input),
    ),

    patch: patchRoute(order, 'PATCH /orders/{orderId}', orderPatchInput, {
      summary: 'Move an order to another state, or change its metadata; the buyer may only cancel',
      errors: [errors.cannotMove],
      allow: [anyOf(admin, own, inItsOrganization), notGuest],
    }).mutation(({ ctx, input: { orderId, ...patch } }) => orders.patch(orderId, patch, actorOf(ctx))),

    cancel: moveRoute(order, 'POST /orders/{orderId}/cancel', 'cancel', orderInput, {
      summary: 'Cancel an order that has not been shipped',
      errors: [errors.cannotMove],
      allow: [anyOf(admin, own, inItsOrganization), notGuest],
    }).mutation(({ ctx, input }) => orders.patch(input.orderId, { status: 'cancelled' }, actorOf(ctx))),

    delete: deleteRoute(order, 'DELETE /orders/{orderId}', { allow: [admin] }).mutation(({ input }) =>
      orders.delete(input.orderId),
    ),

    restore: restoreRoute(order, 'POST /orders/{orderId}/restore').mutation(({ input }) => orders.restore(input.orderId)),
  });
}
