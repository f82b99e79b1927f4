import { authenticatedRoute, router, type AnyRule } from '@tandem/core';
import type { z } from 'zod';
import { actorOf } from '../shared/actor.js';
import type { ShownEventPage } from './event-records.js';
import { eventErrors as errors } from './events.errors.js';
import { EventPageSchema, eventsInput } from './events.schemas.js';
import type { EventsService } from './events.service.js';

/** The events of all records, or of those of an organization (decisions E1). */
export function createEventsRouter(events: EventsService, reads: AnyRule) {
  return router({
    list: authenticatedRoute('GET /events', {
      summary: 'Read what has happened to records, in order',
      failure: 'Failed to find events',
      errors: [errors.gone],
      allow: [reads],
    })
      .input(eventsInput)
      .output(EventPageSchema as unknown as z.ZodType<ShownEventPage>)
      .query(({ ctx, input }) => events.read(input, actorOf(ctx).isAdmin)),
  });
}
