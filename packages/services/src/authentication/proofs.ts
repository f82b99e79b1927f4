import { defineRule, type ApiError, type Identity, type Rule } from '@tandem/core';
import type { AuditService } from '../audit/audit.service.js';
import { requestFactsOf, type RequestFacts } from '../audit/request-facts.js';
import type { Credentials } from '../identities/identity-lookups.js';
import { authenticationServiceErrors as errors } from './authentication.errors.js';
import type { Proof } from './factors/factors.schemas.js';
import { refusalOfPasskey, type FactorsService } from './factors/factors.service.js';
import { SIGN_IN } from './factors/passkeys.js';
import { failAttempt } from './failed-logins/failed-attempt.js';
import type { FailedLogins } from './failed-logins/failed-logins.js';
import type { PasswordProofs } from './passwords/password-proofs.js';
import type { SessionsService } from './sessions/sessions.service.js';

export type Proofs = ReturnType<typeof createProofs>;

interface ProofsOptions {
  passwords: PasswordProofs;
  factors: Pick<FactorsService, 'useCode' | 'useOwnPasskey'>;
  failedLogins: FailedLogins;
  sessions: Pick<SessionsService, 'noteProof'>;
  audit: AuditService;
  /** @throws identityErrors.notFound */
  credentialsOf(identityId: string): Promise<Credentials>;
}

/** Proofs that the holder of a session is its owner (decisions F2). Wrong ones count as failed logins, since it may be stolen. */
export function createProofs({ passwords, factors, failedLogins, sessions, audit, credentialsOf }: ProofsOptions) {
  /**
   * Runs a proof in turn, and counts it where it is refused.
   * @throws the refusal; errors.locked; identityErrors.notFound
   */
  async function inTurn(identityId: string, by: RequestFacts, refusalOf: () => Promise<ApiError | undefined>): Promise<void> {
    await failedLogins.inTurn(await credentialsOf(identityId), by, async (turn) => {
      const refusal = await refusalOf();
      if (!refusal) return;
      await failAttempt({ turn, audit, by }, 'mfa.failed', { identityId });
      throw refusal;
    });
  }

  /** The same with a code. @throws errors.wrongCode, locked; identityErrors.notFound */
  const counted = (identityId: string, by: RequestFacts, isRight: () => Promise<boolean>): Promise<void> =>
    inTurn(identityId, by, async () => ((await isRight()) ? undefined : errors.wrongCode()));

  return {
    counted,

    /**
     * Proves the caller anew, for ten minutes of this session.
     * @throws errors.invalidInput for a wrong password, wrongCode, passkeyRefused, passkeysOff, locked; identityErrors.notFound;
     * authenticationErrors.unverified when the session has ended
     */
    async renew({ id, sessionId }: Identity, { password, code, response }: Proof, by: RequestFacts): Promise<void> {
      if (password !== undefined) await passwords.prove(await credentialsOf(id), password, by);
      if (code !== undefined) await counted(id, by, () => factors.useCode(id, code, by));
      if (response !== undefined)
        await inTurn(id, by, () => refusalOfPasskey(() => factors.useOwnPasskey(id, response, SIGN_IN)));
      await sessions.noteProof(sessionId);
      await audit.record('proof.given', by, { identityId: id, sessionId });
    },

    /** @throws errors.freshProofNeeded unless the session was signed in, or proven, within ten minutes */
    requireFresh: (caller: Identity, by: RequestFacts) => passwords.proveFresh(caller, undefined, by),
  };
}

/**
 * The rule of a fresh proof; a key has none.
 * @param keys of an input that alone need the proof; none: all do
 */
export function freshProof({ requireFresh }: Pick<Proofs, 'requireFresh'>, ...keys: string[]): Rule {
  const says = `signed in, or proven anew, within ten minutes${keys.length === 0 ? '' : `, to give ${keys.join(' or ')}`}`;
  return defineRule(says, [errors.freshProofNeeded], async ({ ctx, given }) => {
    const needs = await Promise.all(keys.map(async (key) => (await given(key)) !== undefined));
    if (keys.length > 0 && !needs.includes(true)) return;
    if (ctx.identity.key) throw errors.freshProofNeeded();
    await requireFresh(ctx.identity, requestFactsOf(ctx));
  });
}
