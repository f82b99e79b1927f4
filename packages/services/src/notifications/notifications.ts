import { mergeRouters } from '@tandem/core';
import { defineService } from '../shared/define-service.js';
import { notificationErrors } from './notifications.errors.js';
import { createNotificationsRouter } from './notifications.router.js';
import { notificationList } from './notifications.schemas.js';
import { createNotificationsService } from './notifications.service.js';

export const notifications = defineService({
  name: 'notifications',
  description: 'Notifications of an identity, and which of them were read.',
  create: (all) => ({ notifications: createNotificationsService(all) }),
  router: ({ notifications: service, streamTickets }, { subscriptions }) =>
    mergeRouters(createNotificationsRouter(service, streamTickets), subscriptions.notifications),
  lists: { list: notificationList },
  errors: { notifications: notificationErrors },
});
