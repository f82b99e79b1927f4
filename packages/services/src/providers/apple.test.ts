import { generateKeyPairSync } from 'node:crypto';
import {
  APPLE_ORIGIN,
  FACES,
  RETURN_URL,
  createBrowser,
  fixture,
  newAppleAccount,
  redeem,
  startAppleProvider,
  startOf,
  startOidcProvider,
  startTestServer,
  throughProvider,
  visitProvider,
  type AppleAccount,
  type ProviderVisit,
} from '@tandem/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { ALTERATIONS } from '../../test/id-tokens.js';
import { FAILED, changed, said } from '../../test/two-providers.js';

const UNVERIFIED = { status: 401, body: { error: { message: 'token could not be verified' } } };
const FORM = 'application/x-www-form-urlencoded';

const apple = fixture(startAppleProvider);
const acme = fixture(startOidcProvider);
/** Asks Apple for the name, too: only then it sends `user`. */
const withName = () => ({ ...apple.settings, scope: 'openid email name' });
const app = fixture(() => startTestServer({ providers: { apple: withName(), acme: acme.settings }, redirectUrls: [RETURN_URL] }));
const cookies = fixture(() =>
  startTestServer({ clock: app.clock, providers: { apple: withName() }, redirectUrls: [RETURN_URL], authModes: { default: 'cookie' } as never }),
); // prettier-ignore
afterEach(() => {
  delete apple.tamper.authorization;
  delete apple.tamper.tokens;
});

const VISIT = { provider: 'apple', purpose: 'oauth-signup' } as const;
const enter = (account: AppleAccount, given: ProviderVisit = VISIT, on = app) => throughProvider(on, apple, { account }, given);
/** Posts fields to the callback, as a form of Apple's. */
function post(browser: ReturnType<typeof createBrowser>, callback: string, origin = APPLE_ORIGIN) {
  const { origin: server, pathname, searchParams } = new URL(callback);
  return browser.submit(server + pathname, searchParams, origin);
}

describe('apple', () => {
  it('is known without any address', async () => {
    const { issuer: _, ...settings } = apple.settings;
    await using server = await startTestServer({ providers: { apple: settings }, redirectUrls: [RETURN_URL] });
    expect(server.tandem.router).toBeDefined();
  });

  it('is asked for a form, the account and its email, and its state cookie is for requests of other sites', async () => {
    await using server = await startTestServer({ clock: app.clock, providers: { apple: apple.settings }, redirectUrls: [RETURN_URL] }); // prettier-ignore
    const answer = await server.rest('GET', startOf(server, VISIT).slice(server.url.length));
    const asked = said(answer.headers.get('location') ?? '');
    expect(asked).toMatchObject({ response_mode: 'form_post', response_type: 'code', scope: 'openid email', nonce: expect.stringMatching(/^[\w-]{43}$/) as string }); // prettier-ignore
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^oauth-[\w-]{16}=[\w-]{43}; Max-Age=600; Path=\/auth\/oauth; Expires=[^;]+; HttpOnly; Secure; SameSite=None$/), // prettier-ignore
    ]);
  });

  it('has a secure state cookie even where the others are not, and the token of the way back has a strict one', async () => {
    const settings = { cookies: { secure: false, sameSite: 'strict' } as const, providers: { apple: apple.settings }, redirectUrls: [RETURN_URL] }; // prettier-ignore
    await using server = await startTestServer({ clock: app.clock, ...settings });
    const answer = await server.rest('GET', startOf(server, VISIT).slice(server.url.length));
    expect(answer.headers.getSetCookie()[0]).toMatch(/; HttpOnly; Secure; SameSite=None$/);
    const { browser, callback } = await visitProvider(app, apple, { account: newAppleAccount() }, VISIT);
    const set = (await post(browser, callback)).headers.getSetCookie().find((one) => one.startsWith('ott-'));
    expect(set).toMatch(/; HttpOnly; Secure; SameSite=Lax$/);
  });

  it('is shown a secret of five minutes, signed for it by the key of the team, and no other', async () => {
    await enter(newAppleAccount());
    const { client_secret: secret } = apple.tokenRequests.at(-1) as { client_secret: string };
    const [head = {}, body = {}] = secret.split('.').slice(0, 2).map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>); // prettier-ignore
    expect(head).toEqual({ alg: 'ES256', kid: 'KEY1234567' });
    expect(body).toMatchObject({ iss: 'TEAM123456', sub: 'tandem', aud: apple.settings.issuer });
    expect(Number(body.exp) - Number(body.iat)).toBe(300);
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
    for (const wrong of [{ privateKey: String(other) }, { teamId: 'TEAM999999' }, { keyId: 'KEY9999999' }]) {
      await using server = await startTestServer({ clock: app.clock, providers: { apple: { ...apple.settings, ...wrong } }, redirectUrls: [RETURN_URL] }); // prettier-ignore
      expect(said(await enter(newAppleAccount(), VISIT, server))).toEqual(FAILED);
    }
  });

  it('signs up with a relay’s address; its truths may be text', async () => {
    for (const verified of ['true', true]) {
      const account = newAppleAccount({ email_verified: verified });
      const { id, accessToken } = await redeem(app, await enter(account));
      const shown = await app.rest('GET', `/identities/${id}`, undefined, { accessToken }).expect(200);
      expect(shown).toMatchObject({ email: account.email, emailVerified: true });
    }
    for (const verified of ['false', false, undefined, 1, 'yes']) {
      const { email_verified: _, ...account } = newAppleAccount();
      const given = verified === undefined ? account : { ...account, email_verified: verified as never };
      expect(said(await enter(given))).toEqual({ error: 'email_not_verified' });
    }
    const { email: _, ...hidden } = newAppleAccount();
    expect(said(await enter(hidden))).toEqual({ error: 'email_missing' });
  });

  it('tells a name the first time, in a field that nobody signed: nothing in it is believed', async () => {
    const victim = await app.signUp({ isVerified: true });
    for (const user of [
      JSON.stringify({ name: { firstName: 'Eve' }, email: victim.email }),
      JSON.stringify({ email: victim.email, email_verified: true, sub: 'x', typeId: 'admin' }),
      'no JSON',
      '{"__proto__":{"isAdmin":true}}',
    ]) {
      const account = newAppleAccount();
      const { browser, callback } = await visitProvider(app, apple, { account }, VISIT);
      expect(new URL(callback).searchParams.get('user')).toContain('firstName');
      const answer = await post(browser, changed(callback, (given) => given.set('user', user))); // prettier-ignore
      const { id, accessToken } = await redeem(app, new URL(answer.headers.get('location') ?? ''), { browser });
      const shown = await app.rest('GET', `/identities/${id}`, undefined, { accessToken }).expect(200);
      expect(shown).toMatchObject({ email: account.email, typeId: 'regular' });
    }
  });

  it('signs in without `user`, which comes once, and without an address', async () => {
    const account = newAppleAccount();
    const { id } = await redeem(app, await enter(account));
    const { browser, callback } = await visitProvider(app, apple, { account: { sub: account.sub } }, { provider: 'apple' });
    expect(new URL(callback).searchParams.has('user')).toBe(false);
    const answer = await post(browser, callback);
    expect((await redeem(app, new URL(answer.headers.get('location') ?? ''), { browser })).id).toBe(id);
  });

  it('is not believed with the nonce of another visit', async () => {
    for (const nonce of ['another', undefined]) {
      apple.tamper.authorization = (given) => (nonce === undefined ? given.delete('nonce') : given.set('nonce', nonce));
      expect(said(await enter(newAppleAccount()))).toEqual(FAILED);
    }
  });

  it.each(ALTERATIONS)('is not believed with an ID token %s', async (_, alter) => {
    apple.tamper.tokens = (answer) => {
      const altered = alter(answer.id_token as string);
      if (altered === undefined) delete answer.id_token;
      else answer.id_token = altered;
    };
    expect(said(await enter(newAppleAccount()))).toEqual(FAILED);
  });
});

describe('the form on the way back', () => {
  it('is taken in cookie mode from Apple’s pages, whatever origin a browser names, and sent on to the listed page', async () => {
    for (const origin of [APPLE_ORIGIN, 'null']) {
      const { browser, callback } = await visitProvider(cookies, apple, { account: newAppleAccount() }, VISIT);
      const { status, headers } = await post(browser, callback, origin);
      expect([status, headers.get('cache-control'), headers.get('referrer-policy')]).toEqual([302, 'no-store', 'no-referrer']);
      expect(headers.get('location')).toMatch(new RegExp(`^${RETURN_URL}\\?onetimeToken=`));
    }
  });

  it('signs nobody in whom a page of an attacker made submit it with the attacker’s code', async () => {
    const attacker = await visitProvider(cookies, apple, { account: newAppleAccount() }, VISIT);
    const victim = createBrowser(cookies);
    expect(await post(victim, attacker.callback, 'https://evil.example')).toMatchObject(UNVERIFIED);
    // who is on the way to Apple
    await victim.goTo(startOf(cookies, VISIT));
    const answer = await post(victim, attacker.callback, 'https://evil.example');
    expect(answer).toMatchObject(UNVERIFIED);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect((await post(attacker.browser, attacker.callback)).status).toBe(302);
  });

  it('of a visit by redirect is refused, and leaves that visit alone', async () => {
    const { browser, callback } = await visitProvider(app, acme, { refuse: true });
    const answer = await post(browser, callback);
    expect([answer.status, answer.body]).toEqual([404, { error: { message: 'Provider not found' } }]);
    const states = changed(callback, (given) => given.delete('error_description'));
    expect((await post(browser, states.replace('/acme/', '/apple/'))).status).toBe(401);
    expect(await browser.goTo(callback)).toBe(`${RETURN_URL}?error=access_denied`);
  });

  it('refuses fields that are repeated or too long, a query, and other types, and takes JSON as other routes do', async () => {
    const path = '/auth/oauth/apple/callback';
    const ask = async (body: string, type = FORM, at = path) => {
      const answer = await app.rest('POST', at, body, { headers: { 'content-type': type } });
      const { error } = answer.body as { error: { message: string; data?: unknown } };
      return [answer.status, error.data ?? error.message];
    };
    expect(await ask('state=a&state=b')).toEqual([400, ['request body/state must be string']]);
    expect(await ask(`state=${'x'.repeat(4097)}`)).toEqual([400, ['request body/state must NOT have more than 4096 characters']]);
    expect(await ask('state=a', FORM, `${path}?state=b`)).toEqual([400, ["query parameter 'state' is not allowed"]]);
    expect(await ask('provider=acme')).toEqual([400, ["request body must NOT have additional properties: 'provider'"]]);
    expect(await ask(`state=${'x'.repeat(70_000)}`)).toEqual([413, 'request entity too large']);
    expect(await ask('state=a', 'multipart/form-data; boundary=x')).toEqual([415, 'Unsupported content type']);
    expect(await ask('state=a', 'text/plain')).toEqual([415, 'Unsupported content type']);
    expect(await ask('__proto__=a&constructor=b&state=')).toEqual([401, 'token could not be verified']);
    expect(await ask('%zz=%ff')).toEqual([401, 'token could not be verified']);
    for (const face of FACES)
      expect(await app.call(face, 'auth.finishOauthByForm', { provider: 'apple', state: 'x' })).toEqual({ ok: false, status: 401, message: 'token could not be verified' }); // prettier-ignore
  });

  it('may come to another instance', async () => {
    await using second = await startTestServer({ clock: app.clock, publicUrl: app.url, providers: { apple: withName() }, redirectUrls: [RETURN_URL] }); // prettier-ignore
    const { browser, callback } = await visitProvider(app, apple, { account: newAppleAccount() }, VISIT);
    const headers = { cookie: browser.cookiesFor(callback), 'content-type': FORM };
    const { pathname, search } = new URL(callback);
    const answers = await Promise.all([app, second, app, second].map((server) => server.rest('POST', pathname, search.slice(1), { headers }))); // prettier-ignore
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([302, 401, 401, 401]);
  });
});
