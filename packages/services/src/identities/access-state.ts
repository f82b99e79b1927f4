import { isEnrolled } from './factor-records.js';
import { ABSENT, type IdentityRecord } from './identity.model.js';

/** The fields that decide whether an identity may act now, and in which sessions. */
export interface AccessState {
  typeId: string;
  sessionEpoch: number;
  /** API keys of another epoch have ended. */
  keyEpoch: number;
  /** A session that survived the last raise of the epoch. */
  sparedSessionId: string | null;
  /** The identity's provider links. Sessions that came by a removed link have ended. */
  linkIds: readonly string[];
  /** Locked by an admin, or deactivated. */
  isBarred: boolean;
  /** Has a second factor, or never signs in, as a service account (decisions F5). */
  hasFactor: boolean;
}

type StateFields = Pick<
  IdentityRecord,
  | 'typeId'
  | 'sessionEpoch'
  | 'keyEpoch'
  | 'sparedSessionId'
  | 'providers'
  | 'locked'
  | 'deactivatedAt'
  | 'factors'
  | 'serviceAccountOf'
>;

/** The projection for `toState`. */
export const STATE = {
  typeId: 1,
  sessionEpoch: 1,
  keyEpoch: 1,
  sparedSessionId: 1,
  'providers.id': 1,
  locked: 1,
  deactivatedAt: 1,
  'factors.id': 1,
  'factors.pendingUntil': 1,
  serviceAccountOf: 1,
} as const;

export function toState(record: StateFields): AccessState {
  const { typeId, sessionEpoch, keyEpoch, sparedSessionId = null, providers, locked, deactivatedAt } = { ...ABSENT, ...record };
  const hasFactor = record.serviceAccountOf !== undefined || isEnrolled(record);
  // a malformed record, written by a host, must not break the session check of all identities
  const linkIds = Array.isArray(providers) ? providers.map(({ id }) => id) : [];
  const isBarred = locked || deactivatedAt !== null;
  return { typeId, sessionEpoch, keyEpoch, sparedSessionId, linkIds, isBarred, hasFactor };
}

/** The session fields that its identity's state is checked against. */
export interface JudgedSession {
  _id: string;
  epoch: number;
  /** The provider link of the sign-in; null or missing for other sign-ins. */
  linkId?: string | null;
}

/** Whether a session has not been ended by its identity. It may still have expired. */
export function countsSession(
  { sessionEpoch, sparedSessionId, linkIds, isBarred }: AccessState,
  session: JudgedSession,
): boolean {
  if (isBarred) return false;
  const { _id, epoch, linkId = null } = session;
  return _id === sparedSessionId || (epoch === sessionEpoch && (linkId === null || linkIds.includes(linkId)));
}
