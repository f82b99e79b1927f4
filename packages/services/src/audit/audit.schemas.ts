import { z } from 'zod';
import { Id, Timestamp, pageOf, pageParameters } from '../shared/schemas.js';
import { SECURITY_EVENT_TYPES } from './event-types.js';

const EventType = z.enum(SECURITY_EVENT_TYPES);

/** One event of the audit trail. What is not known, or not for the reader, is null. */
export const SecurityEventSchema = z
  .object({
    id: Id,
    type: EventType,
    identityId: Id.nullable().meta({ description: 'About whom' }),
    actorId: Id.nullable().meta({ description: 'Who did it' }),
    sessionId: Id.nullable().meta({ description: 'The session that did it, or that it started or ended' }),
    ip: z.string().nullable(),
    userAgent: z.string().nullable(),
    requestId: z.string().nullable(),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
    createdAt: Timestamp,
  })
  .meta({ id: 'SecurityEvent' });

export const SecurityEventPageSchema = z.compile(pageOf(SecurityEventSchema));

export const eventListInput = z.strictObject({ identityId: Id.optional(), type: EventType.optional(), ...pageParameters });
export const identityEventListInput = z.strictObject({ identityId: Id, type: EventType.optional(), ...pageParameters });
