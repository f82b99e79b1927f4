import { ABSENT, type IdentityRecord } from './identity.model.js';

/** What decides whether an identity may act at this moment, and in which sessions. */
export interface AccessState {
  typeId: string;
  sessionEpoch: number;
  /** A session that goes on though its epoch is over. */
  sparedSessionId: string | null;
  /** The links to provider accounts that there are: sessions that came by another one have ended. */
  linkIds: readonly string[];
  /** Locked by an admin, or deactivated. */
  isBarred: boolean;
}

type StateFields = Pick<IdentityRecord, 'typeId' | 'sessionEpoch' | 'sparedSessionId' | 'providers' | 'locked' | 'deactivatedAt'>;

/** The projection that `toState` needs. */
export const STATE = {
  typeId: 1,
  sessionEpoch: 1,
  sparedSessionId: 1,
  'providers.id': 1,
  locked: 1,
  deactivatedAt: 1,
} as const;

export function toState(record: StateFields): AccessState {
  const { typeId, sessionEpoch, sparedSessionId = null, providers, locked, deactivatedAt } = { ...ABSENT, ...record };
  // one record that a host wrote wrongly must not end the check of everybody's sessions
  const linkIds = Array.isArray(providers) ? providers.map(({ id }) => id) : [];
  return { typeId, sessionEpoch, sparedSessionId, linkIds, isBarred: locked || deactivatedAt !== null };
}

/** A session as its identity judges it. */
export interface JudgedSession {
  _id: string;
  epoch: number;
  /** The link that it came by; null, or missing, where it came by none. */
  linkId?: string | null;
}

/** Whether an identity's session has not been ended. It may still have expired. */
export function countsSession(
  { sessionEpoch, sparedSessionId, linkIds, isBarred }: AccessState,
  session: JudgedSession,
): boolean {
  if (isBarred) return false;
  const { _id, epoch, linkId = null } = session;
  return _id === sparedSessionId || (epoch === sessionEpoch && (linkId === null || linkIds.includes(linkId)));
}
