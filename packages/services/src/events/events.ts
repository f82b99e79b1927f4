import { mergeRouters } from '@tandem/core';
import { defineService } from '../shared/define-service.js';
import { readsEvents } from './event-rules.js';
import { eventErrors } from './events.errors.js';
import { createEventsRouter } from './events.router.js';

export const events = defineService({
  name: 'events',
  description: 'What has happened to records, in order, for programs that follow it.',
  router: ({ events: service, organizations }, { subscriptions }) =>
    mergeRouters(createEventsRouter(service, readsEvents(organizations.roleOf)), subscriptions.events),
  lists: {},
  errors: { events: eventErrors },
});
