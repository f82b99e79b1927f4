import { createPublicKey, generateKeyPairSync, randomInt, verify } from 'node:crypto';
import type { Browser } from './browser.js';
import { oidcKeys, startOidcServer, type OidcAccount, type OidcChoice, type OidcServer } from './oidc-server.js';

/** An account as Apple's ID tokens describe it: truths are text. */
export interface AppleAccount extends OidcAccount {
  is_private_email?: boolean | string;
  /** Told once, in the form, where the app asks for it. */
  name?: { firstName: string; lastName: string };
}

/** Apple, as it answers: a form on the way back, secrets that are signed, and an ID token with the email. Stops with `await using`. */
export interface AppleProvider extends AsyncDisposable, Pick<OidcServer, 'authorizations' | 'tokenRequests' | 'tamper' | 'stop'> {
  settings: { clientId: string; issuer: string; teamId: string; keyId: string; privateKey: string };
  /** Chooses. @returns the callback's URL; its query are the fields of the form */
  visit(browser: Browser, address: string, choice: OidcChoice<AppleAccount>): Promise<string>;
  /** Submits the form to the callback, as a page of Apple's does. @returns where the browser is sent then */
  comeBack(browser: Browser, callback: string): Promise<string>;
}

/** Where Apple's pages are. */
export const APPLE_ORIGIN = 'https://appleid.apple.com';
const SIX_MONTHS = 15_777_000;

/** A new account that hides its address behind a relay's. */
export function newAppleAccount(given: Partial<AppleAccount> = {}): AppleAccount {
  const sub = `00${randomInt(1e4)}.${randomInt(2 ** 47).toString(16)}.${randomInt(1e4)}`;
  return { sub, email: `${sub}@privaterelay.appleid.com`, email_verified: 'true', is_private_email: 'true', ...given };
}

/** The fields of the only form of a page. */
function readForm(page: string): { action: string; fields: [string, string][] } {
  const plain = (text = '') => text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'); // prettier-ignore
  const fields = [...page.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  return {
    action: plain(/<form method="post" action="([^"]*)"/.exec(page)?.[1]),
    fields: fields.map(([, name, value]) => [plain(name), plain(value)]),
  };
}

/** Starts one. */
export async function startAppleProvider(): Promise<AppleProvider> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const settings = { clientId: 'tandem', teamId: 'TEAM123456', keyId: 'KEY1234567' };
  const known = new Set<string>();

  /** Whether a secret is a token of the team for this server, signed by the key and valid for six months at most. */
  function isSecret(secret: string): boolean {
    const [head, body, signature] = secret.split('.') as [string, string, string];
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
    const key = { key: createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })), dsaEncoding: 'ieee-p1363' } as const;
    if (!verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))) return false;
    const [{ alg, kid }, { iss, aud, sub, iat, exp }] = [read(head), read(body)];
    const now = Date.now() / 1000;
    const isTimely = Number(iat) <= now && Number(exp) > now && Number(exp) - now <= SIX_MONTHS;
    return alg === 'ES256' && kid === settings.keyId && iss === settings.teamId && aud === url && sub === 'tandem' && isTimely;
  }

  const { url, choose, ...server } = await startOidcServer({
    authorizationPath: '/auth/authorize',
    scope: 'openid email name',
    configuration: {
      clients: [
        {
          client_id: 'tandem',
          client_secret: 'replaced by the check of signed secrets',
          application_type: 'native',
          redirect_uris: ['http://127.0.0.1/auth/oauth/apple/callback'],
          token_endpoint_auth_method: 'client_secret_post',
          id_token_signed_response_alg: 'RS256',
        },
      ],
      jwks: oidcKeys('RS256'),
      claims: { openid: ['sub'], email: ['email', 'email_verified', 'is_private_email'], name: [] },
      conformIdTokenClaims: false,
      features: { devInteractions: { enabled: false }, userinfo: { enabled: false } },
      routes: { authorization: '/auth/authorize', token: '/auth/token', jwks: '/auth/keys' },
      scopes: ['openid', 'email', 'name'],
    },
    publish(document) {
      delete document.authorization_response_iss_parameter_supported;
      delete document.code_challenge_methods_supported;
    },
    prepare(provider) {
      Object.assign(provider.Client.prototype, { compareClientSecret: (secret: string) => Promise.resolve(isSecret(secret)) });
    },
  });

  return {
    ...server,
    settings: { ...settings, issuer: url, privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string },
    async visit(browser, address, choice) {
      const { searchParams } = new URL(address);
      const [mode, scope] = [searchParams.get('response_mode'), searchParams.get('scope') ?? ''] as const;
      if (/\b(name|email)\b/.test(scope) && mode !== 'form_post') throw new Error('response_mode must be form_post');
      const { action, fields } = readForm(String((await choose(browser, address, choice)).body));
      const callback = new URL(action);
      for (const [name, value] of fields) if (name !== 'iss') callback.searchParams.set(name, value);
      if ('refuse' in choice) callback.searchParams.set('error', 'user_cancelled_authorize');
      else if (!known.has(choice.account.sub) && /\bname\b/.test(scope)) {
        const { name = { firstName: 'Ann', lastName: 'Lee' }, email } = choice.account;
        callback.searchParams.set('user', JSON.stringify({ name, email }));
      }
      if ('account' in choice) known.add(choice.account.sub);
      return callback.href;
    },
    async comeBack(browser, callback) {
      const { origin, pathname, searchParams } = new URL(callback);
      const { status, headers, body } = await browser.submit(origin + pathname, searchParams, APPLE_ORIGIN);
      const location = headers.get('location');
      if (location === null) throw new Error(`the callback sends nowhere: ${status} ${JSON.stringify(body)}`);
      return location;
    },
    [Symbol.asyncDispose]: server.stop,
  };
}
