import { defineModel, type BaseRecord } from '@tandem/storage';
import type { SecurityEventType } from './event-types.js';

/** Small facts of one kind of event. Never an email, a token, a password or a code. */
export type EventDetails = Record<string, string | number | boolean | readonly string[]>;

/** Something that happened to the safety of an account. It never changes, and goes when its time is over. */
export interface SecurityEventRecord extends BaseRecord {
  type: SecurityEventType;
  /** About whom; null where that is not known, as for a login with an unknown address. */
  identityId: string | null;
  /** Who did it; null where nobody had proved who they are. */
  actorId: string | null;
  /** The session that did it, or that the act started or ended. */
  sessionId: string | null;
  ip: string | null;
  userAgent: string | null;
  requestId: string | null;
  details: EventDetails;
  expiresAt: Date;
}

export const securityEventModel = defineModel<SecurityEventRecord>('securityEvents', {
  softDelete: false,
  fields: {
    type: { type: String, required: true },
    identityId: { type: String, default: null },
    actorId: { type: String, default: null },
    sessionId: { type: String, default: null },
    ip: { type: String, default: null },
    userAgent: { type: String, default: null },
    requestId: { type: String, default: null },
    details: { type: Object, default: {} },
    expiresAt: { type: Date, required: true },
  },
  expires: 'expiresAt',
  indexes: [
    { keys: { createdAt: -1, _id: -1 }, serves: "the admin's list of all events, newest first" },
    { keys: { identityId: 1, createdAt: -1, _id: -1 }, serves: 'the events about an identity, also of one type, newest first' },
    { keys: { type: 1, createdAt: -1, _id: -1 }, serves: 'the events of a type, newest first' },
  ],
});
