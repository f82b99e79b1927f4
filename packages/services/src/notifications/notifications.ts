import { mergeRouters } from '@tandem/core';
import { defineService } from '../shared/define-service.js';
import { notificationErrors } from './notifications.errors.js';
import { createNotificationsRouter } from './notifications.router.js';
import { notificationList } from './notifications.schemas.js';

export const notifications = defineService({
  name: 'notifications',
  router: ({ notifications: service, streamTickets }, { subscriptions }) =>
    mergeRouters(createNotificationsRouter(service, streamTickets), subscriptions.notifications),
  lists: { list: notificationList },
  errors: { notifications: notificationErrors },
});
