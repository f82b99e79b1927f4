import { validationError, type Clock } from '@tandem/core';
import type { AuditService } from '../../audit/audit.service.js';
import type { RequestFacts } from '../../audit/request-facts.js';
import type { Credentials } from '../../identities/identity-lookups.js';
import { authenticationServiceErrors as errors } from '../authentication.errors.js';
import { failAttempt } from '../failed-logins/failed-attempt.js';
import type { FailedLogins } from '../failed-logins/failed-logins.js';
import type { Passwords } from './passwords.js';

export type PasswordProofs = ReturnType<typeof createPasswordProofs>;

/** How long a sign-in or proof counts as a fresh one for its session, in milliseconds. Token refreshes do not prolong it. */
const FRESH_MS = 10 * 60_000;

/** Who is signed in, in which session. */
export interface Caller {
  id: string;
  sessionId: string;
}

interface PasswordProofsOptions {
  failedLogins: FailedLogins;
  passwords: Passwords;
  audit: AuditService;
  clock: Clock;
  /** @throws identityErrors.notFound */
  credentialsOf(identityId: string): Promise<Credentials>;
  /** When the holder of a session last proved themselves. */
  provedAt(sessionId: string): Promise<Date | undefined>;
}

/** Checks whether a signed-in caller knows the password. Wrong guesses count as failed logins, since a session may be stolen. */
export function createPasswordProofs(options: PasswordProofsOptions) {
  const { failedLogins, passwords, audit, clock, credentialsOf, provedAt } = options;
  /** @throws errors.invalidInput for a wrong password, locked while the network is locked */
  async function prove(credentials: Credentials, password: string, by: RequestFacts): Promise<void> {
    await failedLogins.inTurn(credentials, by, async (turn) => {
      if (await passwords.matches(password, credentials.passwordHash, { ...by, account: credentials.email })) return;
      const details = { reason: 'wrong password of a session' };
      await failAttempt({ turn, audit, by }, 'login.failed', { identityId: credentials.id, details });
      throw errors.invalidInput();
    });
  }

  async function proveFresh({ id, sessionId }: Caller, password: string | undefined, by: RequestFacts): Promise<void> {
    if (password !== undefined) return prove(await credentialsOf(id), password, by);
    const proved = (await provedAt(sessionId)) ?? new Date(0);
    if (proved.getTime() <= clock.now().getTime() - FRESH_MS) throw errors.freshProofNeeded();
  }

  return {
    prove,

    /**
     * Like `prove`, for identities with a password; of others the session must be fresh, as for `proveFresh`.
     * @throws validationError when the password is missing
     */
    async proveIfSet(caller: Caller, password: string | undefined, by: RequestFacts): Promise<void> {
      const credentials = await credentialsOf(caller.id);
      if (credentials.passwordHash === undefined) return proveFresh(caller, undefined, by);
      if (password === undefined) throw validationError(["request body must have required property 'password'"]);
      await prove(credentials, password, by);
    },

    /**
     * Checks the password if given; else the session must have been signed in, or proven anew, within ten minutes.
     * @throws errors.freshProofNeeded, invalidInput, locked; identityErrors.notFound
     */
    proveFresh,
  };
}
