import {
  admin,
  anyOf,
  authenticatedRoute,
  defineRule,
  notGuest,
  organizationRole,
  requestErrors,
  router,
  ruleErrors,
} from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { organizationErrors } from '../organizations/organizations.errors.js';
import type { OrganizationsService } from '../organizations/organizations.service.js';
import { MANAGING_ROLES, isManaging } from '../organizations/roles.js';
import type { RateLimits } from '../rate-limits/rate-limits.js';
import { createRoute, deleteRoute, getRoute, listRoute, patchRoute } from '../shared/record-routes.js';
import { DeliverySchema, deliveryInput, deliveryList } from './deliveries.schemas.js';
import { webhookErrors as errors } from './webhooks.errors.js';
import {
  WebhookSchema,
  WebhookWithSecretSchema,
  createWebhookInput,
  webhookInput,
  webhookList,
  webhookPatchInput,
} from './webhooks.schemas.js';
import type { WebhooksService } from './webhooks.service.js';

interface WebhooksRouterOptions {
  webhooks: WebhooksService;
  organizations: Pick<OrganizationsService, 'roleOf'>;
  rateLimits: RateLimits;
}

const webhook = { one: 'webhook', many: 'webhooks', output: WebhookSchema, list: webhookList, idInput: webhookInput, errors };

/** Webhook routes (decisions E2): owners and admins of an organization manage its webhooks, admins all. */
export function createWebhooksRouter({ webhooks, organizations, rateLimits }: WebhooksRouterOptions) {
  const managesNamed = anyOf(admin, organizationRole('organizationId', MANAGING_ROLES, organizations.roleOf));
  const managesItsOrganization = defineRule(
    "an owner or admin of the webhook's organization",
    [ruleErrors.notInRole],
    async ({ ctx, valueOf }) => {
      const webhookId = await valueOf('webhookId');
      const organizationId = webhookId && (await webhooks.organizationOf(webhookId));
      const role = organizationId ? await organizations.roleOf(organizationId, ctx.identity.id) : undefined;
      if (!isManaging(role)) throw ruleErrors.notInRole();
    },
  );
  const manages = anyOf(admin, managesItsOrganization);
  const limited = rateLimits.account<{ webhookId: string }>('webhookTests', ({ webhookId }) => webhookId);

  return router({
    create: createRoute({ ...webhook, output: WebhookWithSecretSchema }, 'POST /webhooks', createWebhookInput, {
      summary: 'Create a webhook of an organization; admins can create one for all events',
      errors: [organizationErrors.notFound, errors.tooMany],
      allow: [notGuest, managesNamed],
      shownOnce: ['secret'],
      made: webhooks.made,
    }).mutation(({ ctx, input }) => webhooks.create(input, ctx.identity.id, ctx.newId?.())),

    list: listRoute(webhook, 'GET /webhooks', webhookList, { allow: [managesNamed] }).query(({ ctx, input }) =>
      webhooks.list(askedBy(ctx, input)),
    ),

    get: getRoute(webhook, 'GET /webhooks/{webhookId}', { allow: [manages] }).query(({ input }) =>
      webhooks.get(input.webhookId, input),
    ),

    patch: patchRoute(webhook, 'PATCH /webhooks/{webhookId}', webhookPatchInput, {
      summary: 'Change a webhook, or enable it again',
      allow: [notGuest, manages],
    }).mutation(({ input: { webhookId, ...patch } }) => webhooks.patch(webhookId, patch)),

    delete: deleteRoute(webhook, 'DELETE /webhooks/{webhookId}', { allow: [notGuest, manages] }).mutation(({ input }) =>
      webhooks.delete(input.webhookId),
    ),

    rotateSecret: authenticatedRoute('POST /webhooks/{webhookId}/rotate-secret', {
      summary: 'Make a new secret; the former one goes on signing for a day',
      failure: 'Failed to rotate secret',
      errors: [errors.notFound],
      allow: [notGuest, manages],
    })
      .input(webhookInput)
      .output(WebhookWithSecretSchema)
      .mutation(({ input }) => webhooks.rotateSecret(input.webhookId)),

    test: authenticatedRoute('POST /webhooks/{webhookId}/test', {
      status: 201,
      summary: 'Send an event `webhook.test` to a webhook',
      failure: 'Failed to test webhook',
      errors: [errors.notFound, errors.disabled, requestErrors.tooMany],
      allow: [notGuest, manages],
    })
      .input(webhookInput)
      .output(DeliverySchema)
      .use(limited)
      .mutation(({ ctx, input }) => webhooks.test(input.webhookId, ctx.identity.id)),

    listDeliveries: listRoute({ many: 'webhook deliveries' }, 'GET /webhooks/{webhookId}/deliveries', deliveryList, {
      summary: 'List what was sent to a webhook in the last 30 days, newest first',
      allow: [manages],
    }).query(({ ctx, input }) => webhooks.listDeliveries(input.webhookId, askedBy(ctx, input))),

    redeliver: authenticatedRoute('POST /webhooks/{webhookId}/deliveries/{deliveryId}/redeliver', {
      summary: 'Send a delivery again at once',
      failure: 'Failed to redeliver webhook delivery',
      errors: [errors.notFound, errors.deliveryNotFound, errors.disabled, requestErrors.tooMany],
      allow: [notGuest, manages],
    })
      .input(deliveryInput)
      .output(DeliverySchema)
      .use(limited)
      .mutation(({ input }) => webhooks.redeliver(input.webhookId, input.deliveryId)),
  });
}
