import { splitSecrets } from '@tandem/core';
import type { Config } from './config.js';

/** A secret with fewer different characters was probably typed by hand. */
const FEW_CHARACTERS = 12;

/** Whether a secret has few different characters, or repeats one piece. */
function isGuessable(secret: string): boolean {
  // a repetitive text occurs in its double before the middle
  const isRepeated = (secret + secret).indexOf(secret, 1) < secret.length;
  return isRepeated || new Set(secret).size < FEW_CHARACTERS;
}

/**
 * Advice on guessable secrets, because anyone who guesses one can forge tokens: one line per variable (decisions H12).
 */
export function guessableSecrets({ authEncSecret, authSignSecret }: Config['authSecrets']): string[] {
  const secrets = Object.entries({ AUTH_ENC_SECRET: authEncSecret, AUTH_SIGN_SECRET: authSignSecret });
  const weak = secrets.filter(([, list]) => splitSecrets(list).some(isGuessable));
  return weak.map(([name]) => `${name} could be guessed: make one with  openssl rand -base64 48`);
}

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
      authSecrets.authEncSecret === authSecrets.authSignSecret,
      'set AUTH_ENC_SECRET and AUTH_SIGN_SECRET to different texts: otherwise a leak of one reveals both',
    ],
    [config.rateLimits === false, 'set RATE_LIMITS to on: passwords can be tried without a limit'],
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
    [config.publicUrl === undefined, 'set PUBLIC_URL: otherwise links in mails lead to HOST and PORT'],
    [
      config.mail.url !== 'outbox:' && /@localhost>?$/.test(config.mail.from),
      'set MAIL_FROM: mail servers refuse senders at localhost',
    ],
  ];
  return advice.flatMap(([applies, line]) => (applies ? [line] : []));
}
