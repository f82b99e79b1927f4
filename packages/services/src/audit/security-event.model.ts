import { defineListResource } from '@tandem/list-query';
import { defineModel, type BaseRecord } from '@tandem/storage';
import { listIndexes } from '../shared/list-indexes.js';
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

const NOT_SHOWN = ['updatedAt', 'expiresAt'];

export const securityEventResource = defineListResource({
  name: 'securityEvents',
  fields: {
    type: { type: 'string', sort: false },
    identityId: { type: 'string', sort: false },
    actorId: { type: 'string', sort: false },
    sessionId: { type: 'string', sort: false },
    ip: { type: 'string', sort: false },
    createdAt: 'date',
  },
  hidden: NOT_SHOWN,
  defaultOrder: 'createdAt desc, id desc',
  softDelete: false,
});

/** As the person sees it whom an event is about: nothing may be asked of that from which others acted, which is not shown. */
export const ownSecurityEventResource = defineListResource({
  name: 'securityEvents',
  fields: { type: 'string', actorId: 'string', createdAt: 'date' },
  hidden: NOT_SHOWN,
  defaultOrder: 'createdAt desc, id desc',
  softDelete: false,
});

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
  indexes: [...listIndexes(securityEventResource), ...listIndexes(ownSecurityEventResource, { within: ['identityId'] })],
});
