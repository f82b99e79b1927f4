import { defineListResource } from '@tandem/list-query';
import { listIndexes } from '@tandem/lists';
import { defineModel, type BaseRecord } from '@tandem/storage';
import type { SecurityEventType } from './event-types.js';

/** Small facts about an event. Must not contain emails, tokens, passwords or codes. */
export type EventDetails = Record<string, string | number | boolean | readonly string[]>;

/** A security event of an account. Never changes; removed after the retention time. */
export interface SecurityEventRecord extends BaseRecord {
  type: SecurityEventType;
  /** The identity concerned; null if unknown, as in a login with an unknown address. */
  identityId: string | null;
  /** The acting identity; null if nobody was authenticated. */
  actorId: string | null;
  /** The session that acted, or that the action started or ended. */
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

/** For an identity's own events. It lacks fields about where others acted from, so that they cannot be queried either. */
export const ownSecurityEventResource = defineListResource({
  name: 'securityEvents',
  fields: { type: 'string', actorId: 'string', createdAt: 'date' },
  hidden: NOT_SHOWN,
  defaultOrder: 'createdAt desc, id desc',
  softDelete: false,
});

/** Where somebody acted from. */
export const FROM_WHERE = { ip: null, userAgent: null, sessionId: null };

/** An event that names nobody, with the address that earlier versions kept of it. */
export const OF_STRANGERS = { identityId: null, actorId: null, ip: { $gt: '' } };

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
  people: {
    identityId: { erased: 'keep', cleared: FROM_WHERE, untold: true, exported: ['type', 'details', 'createdAt'] },
    actorId: { erased: 'keep', cleared: FROM_WHERE, untold: true, exported: ['type', 'ip', 'userAgent', 'createdAt'] },
  },
  indexes: [
    ...listIndexes(securityEventResource),
    ...listIndexes(ownSecurityEventResource, { within: ['identityId'] }),
    { keys: { ip: 1 }, where: OF_STRANGERS, serves: 'erasures: addresses of nobody, which earlier versions have kept' },
  ],
});
