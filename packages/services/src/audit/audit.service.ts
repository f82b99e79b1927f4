import { describeError, type Log } from '@tandem/core';
import type { ListAnswer, ListQuery, Lists } from '@tandem/lists';
import { newId, present, type JointWrite, type Presented, type Storage } from '@tandem/storage';
import { eventList, identityEventList } from './audit.schemas.js';
import { SECURITY_EVENTS, type SecurityEventType } from './event-types.js';
import type { RequestFacts } from './request-facts.js';
import {
  FROM_WHERE,
  OF_STRANGERS,
  securityEventModel,
  type EventDetails,
  type SecurityEventRecord,
} from './security-event.model.js';

export type AuditService = ReturnType<typeof createAuditService>;
type ShownEvent = Omit<Presented<SecurityEventRecord>, 'updatedAt' | 'expiresAt'>;

/** What an event is about. */
export interface EventSubject {
  /** The identity concerned; null if unknown. */
  identityId: string | null;
  /** The acting identity, if not the one of the request's access token. After a login, the identity that signed in. */
  actorId?: string;
  sessionId?: string;
  /** Small facts. Must not contain emails, tokens, passwords or codes. */
  details?: EventDetails;
}

function show(record: SecurityEventRecord): ShownEvent {
  return present(record);
}

/** Shows an event to the identity it is about, without the session, address and device of anybody else. */
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

/** The audit trail: security events of accounts, as log lines and as records that admins list. */
export function createAuditService({ storage, log, lists, retention }: AuditOptions) {
  const Events = storage.model(securityEventModel);
  const underWay = new Set<Promise<void>>();

  /** The write of a record, which never throws, and one log line, without the personal address and device. */
  function recording(type: SecurityEventType, by: RequestFacts, about: EventSubject): JointWrite {
    const { ip, userAgent, requestId = null } = by;
    const { identityId, actorId = by.actorId ?? null, sessionId = by.sessionId ?? null, details = {} } = about;
    const _id = newId(storage.clock);
    const facts = { identityId, actorId, sessionId, requestId, details };
    const now = storage.clock.now();
    const times = { createdAt: now, updatedAt: now, expiresAt: new Date(now.getTime() + retention) };
    // what names nobody could be found by nobody who is to be erased (decisions F8)
    const isNamed = identityId !== null || actorId !== null;
    const where = { ip: (isNamed && ip) || null, userAgent: (isNamed && userAgent) || null };
    const record: SecurityEventRecord = { _id, type, ...facts, ...where, ...times };
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
    /** Like `record`, but returns the write, to be performed together with the action. */
    recording,

    /** Writes one log line and one record. Never throws. Await it for an admin's action; otherwise `settle` waits for it. */
    record(type: SecurityEventType, by: RequestFacts, about: EventSubject): Promise<void> {
      const stored = storage.writeJointly([recording(type, by, about)]);
      underWay.add(stored);
      return stored.finally(() => underWay.delete(stored));
    },

    /** All events, newest first, or those about an identity, of a type, or both. */
    list(query: ListQuery): Promise<ListAnswer<ShownEvent>> {
      return lists.answer(eventList, Events, { show }, query);
    },

    /** The events about an identity, without where others acted from. */
    listFor(identityId: string, query: ListQuery): Promise<ListAnswer<ShownEvent>> {
      return lists.answer(identityEventList, Events, { scope: { identityId }, show: showToSubject }, query);
    },

    /** Takes addresses and devices out of events that name nobody, which earlier versions have kept. */
    async forgetStrangers(): Promise<number> {
      await storage.people.write(securityEventModel, OF_STRANGERS, FROM_WHERE);
      return 0;
    },

    /** Waits for pending writes. */
    async settle(): Promise<void> {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
