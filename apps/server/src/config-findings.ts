import { relyingPartyOf } from '@tandem/services';
import type { Config } from './config.js';

/** Whether any address may set the caller's address. */
function trustsAnybody(trustProxy: Config['trustProxy']): boolean {
  return trustProxy === true || (Array.isArray(trustProxy) && trustProxy.some((entry) => /\/0+$/.test(entry)));
}

/**
 * Possible improvements of a production server, one line each: shown by the doctor, and in the log at each start.
 * Development gets none.
 */
export function configurationAdvice(config: Config): string[] {
  if (config.development) return [];
  const { cookies, authSecrets } = config;
  const usesCookies = Object.values(config.authModes).includes('cookie') || Object.keys(config.providers).length > 0;
  const prefix = cookies.domain === undefined ? '__Host-' : '__Secure-';
  const advice: [boolean, string][] = [
    [config.mongodbUri === undefined, 'set MONGODB_URI: the embedded engine is for development and small single machines'],
    [
      [authSecrets.authEncSecret].flat().some((secret) => [authSecrets.authSignSecret].flat().includes(secret)),
      'set AUTH_ENC_SECRET and AUTH_SIGN_SECRET to different texts: otherwise a leak of one reveals both',
    ],
    [config.rateLimits === false, 'set RATE_LIMITS to on: passwords can be tried without a limit'],
    [
      config.webhooks.privateAddresses === true,
      'set WEBHOOK_PRIVATE_ADDRESSES to off: whoever makes webhooks can call every server of your network',
    ],
    [cookies.secure === false, 'set COOKIE_SECURE to true: cookies travel in the clear'],
    [
      usesCookies && cookies.secure !== false && !cookies.prefix,
      `set COOKIE_PREFIX to ${prefix}: another site of the domain can set cookies in place of the server's`,
    ],
    [
      trustsAnybody(config.trustProxy),
      'set TRUST_PROXY to the number or the addresses of your proxies: any caller can choose the address that limits count',
    ],
    [
      config.publicUrl?.startsWith('http:') === true && !/\/\/(localhost|127\.)/.test(config.publicUrl),
      'put PUBLIC_URL behind https',
    ],
    [
      config.providers.apple?.teamId !== undefined && config.publicUrl?.startsWith('https:') !== true,
      'set PUBLIC_URL to an https address: Apple sends people back to no other',
    ],
    [config.publicUrl === undefined, 'set PUBLIC_URL: otherwise links in mails lead to HOST and PORT'],
    [
      config.publicUrl !== undefined &&
        config.passkeyRpId === undefined &&
        relyingPartyOf({ publicUrl: config.publicUrl }, '') === undefined,
      'set PASSKEY_RP_ID or a host name in PUBLIC_URL: browsers make no passkeys for its host',
    ],
    [config.mail.url === 'outbox:', 'set MAIL_URL: mails are not delivered, but written into DATA_DIR/outbox'],
    [
      config.mail.url !== 'outbox:' && /@localhost>?$/.test(config.mail.from),
      'set MAIL_FROM: mail servers refuse senders at localhost',
    ],
  ];
  return advice.flatMap(([applies, line]) => (applies ? [line] : []));
}
