/** An authenticator app (decisions F1). */
export interface TotpFactor extends FactorFields {
  type: 'totp';
  /** The secret that it shares with the app, sealed. */
  secret: string;
  /** Names the key that sealed it. */
  sealedBy: string;
  /** The last time step whose code was used, counted from 1970 in 30 seconds; none before it is accepted. */
  step: number;
  /** Until then it can be confirmed, and does not count as a factor; missing once it was. */
  pendingUntil?: Date;
}

/** A WebAuthn credential, whose id is the key (decisions F1, F4). Its texts are base64url. */
export interface PasskeyFactor extends FactorFields {
  type: 'passkey';
  publicKey: string;
  /** Its signature counter at the last use; 0 for an authenticator without one. */
  counter: number;
  transports: string[];
  /**
   * Added before the address was verified, so perhaps by a stranger: the next reset removes it, unless a live session of the
   * identity confirms an address before (decisions H6).
   */
  unproved?: true;
}

interface FactorFields {
  id: string;
  /** Unique over all factors of all identities: of a passkey, the credential's id; else the same as `id`. */
  key: string;
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** A second factor of an identity, stored in its record: one write can add it, use it, and check what depends on all of them. */
export type Factor = TotpFactor | PasskeyFactor;

/** What can follow the first step of a sign-in. */
export const SECOND_STEPS = ['totp', 'passkey', 'recovery'] as const;
export type SecondStep = (typeof SECOND_STEPS)[number];

type Enrolled = { factors?: Factor[]; recoveryCodes?: string[] };

/** The factors that count: an authenticator app, once it was confirmed. */
export function enrolled({ factors }: Enrolled): Factor[] {
  return Array.isArray(factors) ? factors.filter((factor) => !('pendingUntil' in factor)) : [];
}

export function isEnrolled(record: Enrolled): boolean {
  return enrolled(record).length > 0;
}

/** The second steps that an identity can take; none without a factor. */
export function secondSteps(record: Enrolled): SecondStep[] {
  const factors = enrolled(record);
  if (factors.length === 0) return [];
  const types = new Set<SecondStep>(factors.map(({ type }) => type));
  if ((record.recoveryCodes ?? []).length > 0) types.add('recovery');
  return SECOND_STEPS.filter((step) => types.has(step));
}

/** Whether a factor counts, as a condition for `factorsWhere`. */
export const isConfirmed = { $eq: [{ $type: '$$one.pendingUntil' }, 'missing'] };

/** The factors of a record for which the conditions hold, as an expression. */
export function factorsWhere(...conditions: object[]): object {
  const input = { $cond: [{ $isArray: '$factors' }, '$factors', []] };
  return { $filter: { input, as: 'one', cond: { $and: conditions } } };
}
