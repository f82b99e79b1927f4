import { z } from 'zod';
import { Id, Timestamp } from '../shared/schemas.js';

export const EventSchema = z
  .object({
    id: z.string().meta({ description: 'Grows from event to event.', examples: ['0198c0de-5a5a-7000-8000-2f9d1c4b7e60'] }),
    type: z.string().meta({ description: 'What has happened to which kind of record.', examples: ['order.created'] }),
    at: Timestamp,
    subject: z.object({ type: z.string(), id: z.string() }).describe('The record.'),
    organizationId: z.string().nullable().describe('The organization that the record belongs to.'),
    actor: z
      .object({ type: z.enum(['identity', 'key', 'system']), id: z.string().nullable() })
      .nullable()
      .describe('Who has done it; null for a caller without account.'),
    data: z.looseObject({}).describe('The record after it, as its own read shows it; a deleted one as it was last.'),
  })
  .meta({ id: 'Event' });
export type DomainEvent = z.infer<typeof EventSchema>;

export const EventPageSchema = z.object({
  data: z.array(EventSchema),
  nextSince: z.string().nullable().describe('What to ask with next; it moves on without events too.'),
});

const LIMIT_MAX = 200;
const Types = z
  .string()
  .max(4000)
  .describe('The types of events, separated by commas; `order.*` names all of orders.')
  .meta({ examples: ['order.*,product.created'] });

const asked = {
  since: Id.describe('The id of the last event that is known; default: from the oldest.').optional(),
  types: Types.optional(),
  organizationId: Id.describe('Only events of records of this organization.').optional(),
};
export const eventsInput = z.strictObject({
  ...asked,
  limit: z.int().min(1).max(LIMIT_MAX).default(50).describe('How many at most.').optional(),
});
/** tRPC's name for the client's position is the id of its last event. */
export const eventStreamInput = z.strictObject({
  ...asked,
  lastEventId: z.string().max(100).optional(),
});
export type EventStreamInput = z.infer<typeof eventStreamInput>;
