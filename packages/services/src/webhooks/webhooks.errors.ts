import { defineErrors } from '@tandem/core';

/** Most webhooks that an organization has, and most that have none: each event is sent to all of them. */
export const WEBHOOKS_MAX = 50;

/** The errors of webhooks. Rules and organizations declare their own. */
export const webhookErrors = defineErrors('webhooks', {
  notFound: [404, 'Webhook not found'],
  deliveryNotFound: [404, 'Webhook delivery not found'],
  nothingToUpdate: [400, 'Failed to update webhook'],
  tooMany: [409, `There must NOT be more than ${WEBHOOKS_MAX} webhooks`],
  disabled: [409, 'Webhook is disabled'],
});
