import { defineList, relatedOne } from '@tandem/lists';
import { z } from 'zod';
import { personKind } from '../people/people.schemas.js';
import { Id, Timestamp } from '../shared/schemas.js';
import { SECURITY_EVENT_TYPES } from './event-types.js';
import { ownSecurityEventResource, securityEventResource } from './security-event.model.js';

const EventType = z.enum(SECURITY_EVENT_TYPES);

/** An event of the audit trail. Fields that are unknown, or hidden from the reader, are null. */
export const SecurityEventSchema = z
  .object({
    id: Id,
    type: EventType,
    identityId: Id.nullable().meta({ description: 'The identity concerned' }),
    actorId: Id.nullable().meta({ description: 'The identity that acted' }),
    sessionId: Id.nullable().meta({
      description: 'The session or API key that acted, or the session that the event started or ended',
    }),
    ip: z.string().nullable(),
    userAgent: z.string().nullable(),
    requestId: z.string().nullable(),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
    createdAt: Timestamp,
  })
  .meta({ id: 'SecurityEvent' });

const shown = { row: SecurityEventSchema, relations: { person: relatedOne(personKind, 'identityId') } };
export const eventList = defineList(securityEventResource, {
  ...shown,
  equal: { identityId: Id, type: EventType },
});
/** Decides whether the acting identity is another, whose session, address and device are not shown. */
const actor = ['actorId', 'identityId'];
export const identityEventList = defineList(ownSecurityEventResource, {
  ...shown,
  reads: { sessionId: actor, ip: actor, userAgent: actor },
  own: { identityId: Id },
  equal: { type: EventType },
});
