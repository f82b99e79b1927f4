import { authenticationErrors } from '@tandem/core';
import type { IdentitiesService } from '../../identities/identities.service.js';
import type { Credentials } from '../../identities/identity-lookups.js';
import type { PreparedMail, QueuedMail } from '../../mail/queued-mail.js';
import type { OnetimeTokensService } from '../../onetime-tokens/onetime-tokens.service.js';
import type { OnetimeTarget } from '../../onetime-tokens/onetime-targets.js';
import type { MfaCodes } from '../mfa/mfa-codes.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Lifetimes of links that differ from the general one (decisions A5). */
const RESET_MINUTES = 30;
const CHANGE_EMAIL_HOURS = 24;

interface PreparationOptions {
  identities: IdentitiesService;
  onetimeTokens: OnetimeTokensService;
  codes: MfaCodes;
  /** `onetimeTokenExpireTime`, in milliseconds. */
  onetimeLifetime: number;
}

type Queued = QueuedMail & { id: string };

/**
 * Resolves recipient and token or code of a sign-in mail when it is sent. So the queue stores no tokens, and a mail whose purpose
 * was voided meanwhile is not sent. A mail that is sent twice carries the same token.
 */
export function createMailPreparation({ identities, onetimeTokens, codes, onetimeLifetime }: PreparationOptions) {
  /** A mail with a link; undefined where its token was used, or voided since an earlier attempt to send it. */
  async function withToken(
    { id: jti }: Queued,
    { id: identityId, onetimeEpoch: epoch }: Credentials,
    { target, to, lifetimeMs }: { target: OnetimeTarget; to: string; lifetimeMs: number },
    values: PreparedMail['values'],
  ): Promise<PreparedMail | undefined> {
    const { token } = await onetimeTokens.create({ identityId, epoch, target, jti, email: to, lifetimeMs });
    try {
      await onetimeTokens.read(token, target);
    } catch (error) {
      if (authenticationErrors.unverified.matches(error)) return undefined;
      throw error;
    }
    return { to, token, values: { email: to, ...values } };
  }

  /** The identity of a mail, unless it is gone or its one-time tokens were voided after the request. */
  async function accountOf({ identityId = '', values }: Queued): Promise<Credentials | undefined> {
    const account = await identities.credentialsOf({ id: identityId });
    return account?.onetimeEpoch === values?.epoch ? account : undefined;
  }

  /** @returns undefined when there is nothing to send */
  return async function prepare(mail: Queued): Promise<PreparedMail | undefined> {
    const { template, to = '', values } = mail;
    if (template === 'confirm-email') {
      const account = await accountOf(mail);
      if (!account) return undefined;
      const given = { target: template, to: account.email, lifetimeMs: onetimeLifetime };
      return withToken(mail, account, given, { hours: Math.floor(onetimeLifetime / HOUR_MS) });
    }
    if (template === 'confirm-new-email') {
      const account = await accountOf(mail);
      const given = { target: 'change-email', to, lifetimeMs: CHANGE_EMAIL_HOURS * HOUR_MS } as const;
      return account && withToken(mail, account, given, { hours: CHANGE_EMAIL_HOURS });
    }
    if (template === 'reset-password') {
      const account = await identities.credentialsOf({ email: to });
      const given = { target: template, to, lifetimeMs: RESET_MINUTES * MINUTE_MS };
      return account && withToken(mail, account, given, { minutes: RESET_MINUTES });
    }
    if (template === 'mfa-code') {
      const account = await identities.credentialsOf({ id: mail.identityId ?? '' });
      if (!account) return undefined;
      const { challenge, send, ...shown } = values ?? {};
      const code = codes.make(String(challenge), Number(send));
      return { to: account.email, values: { ...shown, email: account.email, code } };
    }
    const { identityId = '' } = mail;
    // taken back meanwhile
    if (template === 'erasure-requested' && (await identities.staying([identityId])).has(identityId)) return undefined;
    const email = mail.to ?? (await identities.credentialsOf({ id: identityId }))?.email;
    return email === undefined ? undefined : { to: email, values: { email, ...values } };
  };
}
