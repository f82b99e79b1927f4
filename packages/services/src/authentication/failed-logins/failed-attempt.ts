import type { AuditService, EventSubject } from '../../audit/audit.service.js';
import type { RequestFacts } from '../../audit/request-facts.js';
import type { Turn } from './failed-logins.js';

interface Attempt {
  turn: Turn;
  audit: Pick<AuditService, 'record'>;
  by: RequestFacts;
}

/** Counts a failed attempt, and records it and the lock that it may start. */
export async function failAttempt(
  { turn, audit, by }: Attempt,
  type: 'login.failed' | 'mfa.failed',
  about: EventSubject,
): Promise<void> {
  const isLocked = await turn.fail();
  void audit.record(type, by, about);
  if (isLocked) void audit.record('login.locked', by, { identityId: about.identityId });
}
