import { describeError, type Log } from '@tandem/core';
import { newId, present, type JointWrite, type Presented, type Storage } from '@tandem/storage';
import type { ListAnswer } from '../shared/list-declaration.js';
import type { ListQuery } from '../shared/list-query.js';
import type { Lists } from '../shared/lists.js';
import { eventList, identityEventList } from './audit.schemas.js';
import { SECURITY_EVENTS, type SecurityEventType } from './event-types.js';
import type { RequestFacts } from './request-facts.js';
import { securityEventModel, type EventDetails, type SecurityEventRecord } from './security-event.model.js';

export type AuditService = ReturnType<typeof createAuditService>;
type ShownEvent = Omit<Presented<SecurityEventRecord>, 'updatedAt' | 'expiresAt'>;

/** What an event is about. */
export interface EventSubject {
  /** About whom; null where that is not known. */
  identityId: string | null;
  /** Who did it, where the request's access token does not say: after a login, whoever signed in. */
  actorId?: string;
  sessionId?: string;
  /** Small, and never an email, a token, a password or a code. */
  details?: EventDetails;
}

function show(record: SecurityEventRecord): ShownEvent {
  return present(record);
}

/** To the person an event is about: not from where somebody else acted. */
function showToSubject(record: SecurityEventRecord): ShownEvent {
  const isOfAnother = record.actorId !== null && record.actorId !== record.identityId;
  return isOfAnother ? { ...show(record), sessionId: null, ip: null, userAgent: null } : show(record);
}

interface AuditOptions {
  storage: Storage;
  log: Log;
  lists: Lists;
  /** Milliseconds after which a record is removed. */
  retention: number;
}

/** The audit trail: what happens to the safety of accounts, as log lines and as records that admins list. */
export function createAuditService({ storage, log, lists, retention }: AuditOptions) {
  const Events = storage.model(securityEventModel);
  const underWay = new Set<Promise<void>>();

  /** The write of the record, which never throws. With it comes one log line, without address and device, which are personal. */
  function recording(type: SecurityEventType, by: RequestFacts, about: EventSubject): JointWrite {
    const { ip, userAgent, requestId = null } = by;
    const { identityId, actorId = by.actorId ?? null, sessionId = by.sessionId ?? null, details = {} } = about;
    const _id = newId(storage.clock);
    const facts = { identityId, actorId, sessionId, requestId, details };
    const now = storage.clock.now();
    const times = { createdAt: now, updatedAt: now, expiresAt: new Date(now.getTime() + retention) };
    const record: SecurityEventRecord = { _id, type, ...facts, ip: ip || null, userAgent: userAgent || null, ...times };
    return {
      model: securityEventModel,
      insert: record,
      settled(result) {
        const [level, meaning] = SECURITY_EVENTS[type];
        const line = { event: type, eventId: _id, ...facts };
        if (result.status === 'fulfilled') log[level](line, meaning);
        else log.error({ err: describeError(result.reason), ...line }, 'a security event was not recorded');
      },
    };
  }

  return {
    /** The same as `record`, for the caller to write together with what happened. */
    recording,

    /** One log line and one record. Never throws; wait for it where the act is an admin's, else leave it: `settle` waits for all. */
    record(type: SecurityEventType, by: RequestFacts, about: EventSubject): Promise<void> {
      const stored = storage.writeJointly([recording(type, by, about)]);
      underWay.add(stored);
      return stored.finally(() => underWay.delete(stored));
    },

    /** All events, newest first, or those about an identity, of a type, or both. */
    list(query: ListQuery): Promise<ListAnswer<ShownEvent>> {
      return lists.answer(eventList, Events, { show }, query);
    },

    /** The events about an identity as it may see them: where others acted from is left out. */
    listFor(identityId: string, query: ListQuery): Promise<ListAnswer<ShownEvent>> {
      return lists.answer(identityEventList, Events, { scope: { identityId }, show: showToSubject }, query);
    },

    /** Waits for the records that are being written. */
    async settle(): Promise<void> {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
