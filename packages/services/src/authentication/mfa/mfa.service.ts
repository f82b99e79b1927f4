import { authenticationErrors, requestErrors, type ApiError } from '@tandem/core';
import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { Clock } from '@tandem/storage';
import type { AuditService } from '../../audit/audit.service.js';
import type { SecondStep } from '../../identities/factor-records.js';
import type { Credentials } from '../../identities/identity-lookups.js';
import type { MailsService } from '../../mail/mails.service.js';
import type { OnetimeToken, OnetimeTokensService } from '../../onetime-tokens/onetime-tokens.service.js';
import type { RateLimits } from '../../rate-limits/rate-limits.js';
import { authenticationServiceErrors as errors } from '../authentication.errors.js';
import { refusalOfPasskey, type FactorsService } from '../factors/factors.service.js';
import { failAttempt } from '../failed-logins/failed-attempt.js';
import type { FailedLogins } from '../failed-logins/failed-logins.js';
import type { MfaCodes } from './mfa-codes.js';
import type { OnetimeProofs } from '../onetime-proofs.js';
import type { Device, SessionsService, TokenPair } from '../sessions/sessions.service.js';

/** Limits of a challenge (decisions A10): lifetime of a code, attempts in total, time between mails, mails in total. */
const CODE_LIFE_MS = 5 * 60_000;
const ATTEMPTS = 5;
const RESEND_WAIT_MS = 30_000;
const SENDS = 6;

interface Read {
  challenge: OnetimeToken;
  credentials: Credentials;
}

const purposeOf = ({ jti }: OnetimeToken) => `step ${jti}`;

export type MfaService = ReturnType<typeof createMfaService>;

/** What a first step answers where a second has to follow. */
export interface Challenge {
  token: string;
  /** How to continue; absent where a code was mailed. */
  factors?: SecondStep[];
}

/** A second step: a code, or a passkey's answer. */
export type GivenStep = { code: string } | { response: AuthenticationResponseJSON };

interface MfaOptions {
  sessions: SessionsService;
  onetimeTokens: OnetimeTokensService;
  onetimeProofs: OnetimeProofs;
  failedLogins: FailedLogins;
  mails: Pick<MailsService, 'enqueue'>;
  codes: MfaCodes;
  factors: Pick<FactorsService, 'useCode' | 'useOwnPasskey' | 'requestOptions'>;
  audit: AuditService;
  rateLimits: Pick<RateLimits, 'countAccount'>;
  clock: Clock;
}

/** The second step of a sign-in: a factor (decisions F3), or for who has none a code sent by mail (A10). */
export function createMfaService(options: MfaOptions) {
  const { sessions, onetimeTokens, onetimeProofs, failedLogins, mails, codes, factors, audit, rateLimits, clock } = options;

  function sendCode(identityId: string, challenge: string, send: number): Promise<void> {
    const expiresAt = new Date(clock.now().getTime() + CODE_LIFE_MS);
    return mails.enqueue([
      { template: 'mfa-code', identityId, values: { challenge, send, minutes: CODE_LIFE_MS / 60_000 }, expiresAt },
    ]);
  }

  /** @throws authenticationErrors.unverified, wrongType; errors.locked */
  async function read(token: string): Promise<Read> {
    const { onetimeToken: challenge, credentials } = await onetimeProofs.read(token, 'mfa-challenge');
    if (credentials.isBarred) throw errors.locked();
    return { challenge, credentials };
  }

  /** The same, to continue a challenge that has attempts left. */
  async function readOpen(token: string): Promise<Read> {
    const found = await read(token);
    if (found.challenge.attempts >= ATTEMPTS) throw authenticationErrors.unverified();
    return found;
  }

  /** Why a second step is refused; undefined when it is right, and used by this. @throws errors.passkeysOff */
  async function refusalOf(given: GivenStep, { challenge, credentials }: Read, device: Device): Promise<ApiError | undefined> {
    const { id, secondSteps } = credentials;
    if ('response' in given) return refusalOfPasskey(() => factors.useOwnPasskey(id, given.response, purposeOf(challenge)));
    const { code } = given;
    const isRight =
      secondSteps.length > 0 ? await factors.useCode(id, code, device) : codes.isRight(code, challenge.jti, challenge.sends);
    return isRight ? undefined : errors.wrongCode();
  }

  return {
    /** Asks for a factor after the first proof, or sends a code to who has none. */
    async challenge({ id, onetimeEpoch, secondSteps }: Credentials, device: Device): Promise<Challenge> {
      const { token, jti } = await onetimeTokens.create({
        identityId: id,
        epoch: onetimeEpoch,
        target: 'mfa-challenge',
        lifetimeMs: CODE_LIFE_MS,
        ...(device.fingerprintHash !== undefined && { fph: device.fingerprintHash }),
        linkId: device.linkId ?? null,
      });
      const hasFactor = secondSteps.length > 0;
      if (!hasFactor) await sendCode(id, jti, 1);
      void audit.record('mfa.challenged', device, { identityId: id });
      return { token, ...(hasFactor && { factors: secondSteps }) };
    },

    /**
     * Starts a session for the right code or passkey and consumes the challenge. Each attempt is counted before it is compared; a
     * wrong one also counts as a failed login. The session is bound to the fingerprint of the first step, else to the device's.
     * @throws errors.wrongCode, passkeyRefused, passkeysOff, locked; authenticationErrors.unverified, wrongType,
     * fingerprintMismatch; requestErrors.tooMany
     */
    async verify(token: string, given: GivenStep, device: Device): Promise<{ id: string } & TokenPair> {
      const { challenge, credentials } = await read(token);
      const { fingerprintHash = device.fingerprintHash } = challenge;
      const { id: identityId, sessionEpoch } = credentials;
      const isOther = device.fingerprintHash !== undefined && device.fingerprintHash !== fingerprintHash;
      if (isOther) throw authenticationErrors.fingerprintMismatch();
      return failedLogins.inTurn(credentials, { ...device, fingerprintHash }, async (turn) => {
        // counted only now, so that attempts refused by a lock are not
        await rateLimits.countAccount('mfaVerify', identityId, device.ip);
        await onetimeTokens.countAttempt(challenge.id, ATTEMPTS);
        const refusal = await refusalOf(given, { challenge, credentials }, device);
        if (refusal) {
          await failAttempt({ turn, audit, by: device }, 'mfa.failed', { identityId });
          throw refusal;
        }
        await onetimeTokens.use(challenge.id);
        const bound = { ...device, fingerprintHash, linkId: challenge.linkId };
        return { id: identityId, ...(await sessions.start(identityId, sessionEpoch, bound, ...turn.success())) };
      });
    },

    /** The options to answer a challenge with a passkey. @throws errors.passkeysOff, locked; authenticationErrors.unverified, wrongType */
    async passkeyOptions(token: string) {
      const { challenge } = await readOpen(token);
      return factors.requestOptions(challenge.subject, purposeOf(challenge));
    },

    /**
     * Sends another code, which voids the one before.
     * @returns the challenge token with a new expiry
     * @throws requestErrors.tooMany within half a minute of the last mail, and after the fifth resend;
     * errors.noMailedCode; authenticationErrors.unverified, wrongType
     */
    async resend(token: string, ip: string): Promise<string> {
      const { challenge, credentials } = await readOpen(token);
      if (credentials.secondSteps.length > 0) throw errors.noMailedCode();
      await rateLimits.countAccount('mfaResend', challenge.subject, ip);
      const sent = await onetimeTokens.countSend(challenge, { most: SENDS, waitMs: RESEND_WAIT_MS, lifetimeMs: CODE_LIFE_MS });
      if (!sent) throw requestErrors.tooMany({ retryAfter: RESEND_WAIT_MS / 1000 });
      await sendCode(challenge.subject, challenge.jti, sent.send);
      return sent.token;
    },
  };
}
