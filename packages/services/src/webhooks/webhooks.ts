import { defineService } from '../shared/define-service.js';
import { deliveryList } from './deliveries.schemas.js';
import { webhookErrors } from './webhooks.errors.js';
import { createWebhooksRouter } from './webhooks.router.js';
import { webhookList } from './webhooks.schemas.js';
import { createWebhooksService } from './webhooks.service.js';

export const webhooks = defineService({
  name: 'webhooks',
  description: 'Events sent to the addresses of others, signed by Standard Webhooks.',
  create: (all) => ({ webhooks: createWebhooksService(all) }),
  router: createWebhooksRouter,
  lists: { list: webhookList, listDeliveries: deliveryList },
  errors: { webhooks: webhookErrors },
});
