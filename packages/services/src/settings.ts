import { MFA_REQUIRED, createTokens, deriveKey, type EventBus, type IdentityTypeIds, type Log } from '@tandem/core';
import { relyingPartyOf } from './authentication/factors/relying-party.js';
import type { Lifetimes } from './authentication/lifetimes.js';
import {
  ERASED_MESSAGES,
  parseLifetime,
  parseRetention,
  parseSecrets,
  parseSize,
  type TandemConfiguration,
} from './configuration.js';
import type { FoundationOptions } from './foundation.js';
import type { DeclaredFields } from './host-field-types.js';
import { senderName } from './mail/outgoing-mail.js';
import { readOauth } from './providers/oauth-configuration.js';
import { createRateLimits } from './rate-limits/rate-limits.js';
import type { ServiceName } from './router.js';
import type { AnyService } from './shared/define-service.js';

/** @throws Error naming the setting, for anything but one of some words */
function wordOf<Word extends string>(setting: string, words: readonly Word[], given: string = words[0] as Word): Word {
  const found = words.find((word) => word === given);
  if (found === undefined) throw new Error(`${setting} must be one of ${words.join(', ')}, not "${given}"`);
  return found;
}

/**
 * What services are built on, from the configuration of a host.
 * @throws Error naming a wrong setting
 */
export async function readSettings<Name extends ServiceName, Own extends readonly AnyService[], Fields extends DeclaredFields>(
  configuration: TandemConfiguration<Name, Own, Fields>,
  { bus, typeIds, log }: { bus: EventBus; typeIds: IdentityTypeIds; log: Log },
): Promise<FoundationOptions & { lifetimes: Lifetimes }> {
  const { storage, authSecrets } = configuration;
  const lifetimes: Lifetimes = {
    access: parseLifetime('accessTokenExpireTime', configuration.accessTokenExpireTime ?? '15m'),
    refresh: parseLifetime('refreshTokenExpireTime', configuration.refreshTokenExpireTime ?? '14d'),
    onetime: parseLifetime('onetimeTokenExpireTime', configuration.onetimeTokenExpireTime ?? '48h'),
    session: parseLifetime('sessionMaxTime', configuration.sessionMaxTime ?? '90d'),
    invitation: parseLifetime('invitationExpireTime', configuration.invitationExpireTime ?? '7d'),
    provider: parseLifetime('providerTokenExpireTime', configuration.providerTokenExpireTime ?? '5m'),
  };
  const signSecrets = parseSecrets('authSecrets.authSignSecret', authSecrets.authSignSecret);
  const encSecrets = parseSecrets('authSecrets.authEncSecret', authSecrets.authEncSecret);
  const oauth = readOauth(configuration);
  const mfaRequired = wordOf('mfaRequired', MFA_REQUIRED, configuration.mfaRequired);
  const tokens = await createTokens({
    signSecrets,
    encSecrets,
    clock: storage.clock,
  });
  return {
    storage,
    bus,
    tokens,
    log,
    typeIds,
    lifetimes,
    auditRetention: parseLifetime('auditRetention', configuration.auditRetention ?? '365d'),
    eventRetention: parseLifetime('eventRetention', configuration.eventRetention ?? '30d'),
    erasure: {
      delay: parseLifetime('erasureDelay', configuration.erasureDelay ?? '14d', 0),
      blank: wordOf('erasedMessages', ERASED_MESSAGES, configuration.erasedMessages) === 'blank',
    },
    retention: {
      records: parseRetention('deletedRetention', configuration.deletedRetention),
      orders: parseRetention('deletedRetentionOrders', configuration.deletedRetentionOrders),
    },
    eventMessageTexts: configuration.eventMessageTexts ?? false,
    codeSecrets: signSecrets,
    encSecrets,
    relyingParty: relyingPartyOf(configuration, senderName(configuration.mail ?? {})),
    mfaRequired,
    cursorSecrets: signSecrets.map((secret) => deriveKey(secret, 'list cursors')),
    search: configuration.search,
    fields: configuration.fields ?? {},
    mfaEnabled: configuration.mfaEnabled ?? false,
    verifyImportedPassword: configuration.verifyImportedPassword,
    checkPassword: configuration.checkPassword,
    bcryptCost: configuration.bcryptCost ?? 12,
    mail: configuration.mail ?? {},
    files: configuration.files?.driver,
    filesQuota: parseSize('files.quota', configuration.files?.quota ?? '5gb'),
    rateLimits: createRateLimits({
      settings: configuration.rateLimits ?? true,
      redis: configuration.redis,
      secret: signSecrets.join(','),
      log,
    }),
    oauth,
    webhooks: configuration.webhooks ?? {},
  };
}
