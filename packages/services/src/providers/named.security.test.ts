import type { ServerResponse } from 'node:http';
import { RETURN_URL, createBrowser, startOf, startTestServer, throughProvider, type ProviderVisit } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { ANSWERS, NAMED, answerTo, useNamedProvider, visitNamed } from '../../test/named-providers.js';
import { FAILED, changed, said } from '../../test/two-providers.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const UNVERIFIED = [401, { error: { message: 'token could not be verified' } }];

/** What a server might answer that is not the provider, or no longer. */
const HOSTILE: [string, (res: ServerResponse) => void][] = [
  ['an error', (res) => res.writeHead(500).end('{}')],
  ['a redirect', (res) => res.writeHead(302, { location: '/elsewhere' }).end()],
  ['a page', (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>')],
  ['no object', (res) => res.writeHead(200, JSON_TYPE).end('null')],
  ['too much', (res) => res.writeHead(200, JSON_TYPE).end(`{"x":"${'x'.repeat(600_000)}"}`)],
  ['half of it', (res) => res.writeHead(200, JSON_TYPE).write('{', () => res.destroy())],
];

describe.each(Object.keys(NAMED))('%s', (name) => {
  const { app, idp } = useNamedProvider(name);
  const visit = (choice: { account: object } | { refuse: true }, given: ProviderVisit = {}) =>
    visitNamed(name, { app, idp }, choice, { purpose: 'oauth-signup', ...given });
  const enter = async (account = idp.newAccount()) => said(await throughProvider(app, idp, { account }, { provider: name, purpose: 'oauth-signup' })); // prettier-ignore
  const replyOf = async (reply: ReturnType<Awaited<ReturnType<typeof visit>>['back']>) => {
    const { status, body } = await reply;
    return [status, body];
  };
  const location = async (reply: ReturnType<Awaited<ReturnType<typeof visit>>['back']>) =>
    said((await reply).headers.get('location') ?? '');

  it('is asked with PKCE and a state of 256 bits, and returned to at the one callback of its name', async () => {
    await visit({ account: idp.newAccount() });
    const { state, code_challenge, code_challenge_method: method, redirect_uri } = Object.fromEntries(idp.authorizations.at(-1) ?? []); // prettier-ignore
    for (const value of [state, code_challenge]) expect(value).toMatch(/^[\w-]{43}$/);
    expect([method, redirect_uri]).toEqual(['S256', `${app.url}/auth/oauth/${name}/callback`]);
  });

  it('sends nobody to an address that is not listed', async () => {
    for (const redirectUrl of ['https://evil.example/welcome', `${RETURN_URL}.evil.example`, '//evil.example', 'javascript:1']) {
      const { status } = await createBrowser(app).send('GET', startOf(app, { provider: name, redirectUrl }));
      expect(status).toBe(400);
    }
    const { callback, back } = await visit({ refuse: true });
    const misled = changed(callback, (given) => given.set('redirectUrl', 'https://evil.example'));
    expect((await back(misled)).headers.get('location')).toMatch(new RegExp(`^${RETURN_URL}\\?`));
  });

  it('brings a browser back once', async () => {
    const { browser, callback, back } = await visit({ account: idp.newAccount() });
    const cookie = browser.cookiesFor(callback);
    expect((await back()).headers.get('location')).toContain('onetimeToken=');
    expect(await replyOf(back())).toEqual(UNVERIFIED);
    // also when the browser still had the cookie
    const [path, form] = [new URL(callback).pathname, new URL(callback).search.slice(1)];
    const isForm = name === 'apple';
    const headers = { cookie, ...(isForm && { 'content-type': 'application/x-www-form-urlencoded' }) };
    const again = await app.rest(isForm ? 'POST' : 'GET', isForm ? path : `${path}?${form}`, isForm ? form : undefined, { headers }); // prettier-ignore
    expect([again.status, again.body]).toEqual(UNVERIFIED);
  });

  it('brings back the browser that began, and no other, which may have been lured there', async () => {
    const { callback, back } = await visit({ account: idp.newAccount() });
    const lured = createBrowser(app);
    expect(await replyOf(answerTo(name, lured, callback))).toEqual(UNVERIFIED);
    // one that has begun a visit of its own
    await lured.goTo(startOf(app, { provider: name }));
    expect(await replyOf(answerTo(name, lured, callback))).toEqual(UNVERIFIED);
    expect((await back()).headers.get('location')).toContain('onetimeToken=');
  });

  it('is not believed with a state that is forged, missing or old', async () => {
    const { callback, back } = await visit({ account: idp.newAccount() });
    for (const state of ['', 'forged', 'x'.repeat(4096)])
      expect(await replyOf(back(changed(callback, (given) => given.set('state', state))))).toEqual(UNVERIFIED);
    expect(await replyOf(back(changed(callback, (given) => given.delete('state'))))).toEqual(UNVERIFIED);
    app.clock.advance(10 * 60_000);
    expect(await replyOf(back())).toEqual(UNVERIFIED);
  });

  it('is not believed with the code of somebody else’s visit, or a forged one', async () => {
    const victim = await visit({ account: idp.newAccount() });
    const thief = await visit({ refuse: true });
    const stolen = new URL(victim.callback).searchParams.get('code') ?? '';
    const injected = changed(thief.callback, (given) => {
      for (const key of ['error', 'error_description', 'error_uri']) given.delete(key);
      given.set('code', stolen);
    });
    expect(await location(thief.back(injected))).toEqual(FAILED);
    const { callback, back } = await visit({ account: idp.newAccount() });
    expect(await location(back(changed(callback, (given) => given.set('code', 'forged'))))).toEqual(FAILED);
  });

  it('passes none of its own text on', async () => {
    const { callback, back } = await visit({ account: idp.newAccount() });
    const failed = changed(callback, (given) => {
      given.set('error', '<b>server_error</b>');
      given.set('error_description', 'call this number');
    });
    expect((await back(failed)).headers.get('location')).toBe(`${RETURN_URL}?error=provider_error`);
  });

  describe.each(ANSWERS[name] ?? [])('that answers %s', (path) => {
    it('with anything else is not believed, and as usual once it does so again', async () => {
      // keeps what it has discovered: a server of its own
      await using server = await startTestServer({ clock: app.clock, providers: { [name]: idp.settings }, redirectUrls: [RETURN_URL] }); // prettier-ignore
      const signUp = async () => {
        const browser = createBrowser(server);
        const first = await browser.goTo(startOf(server, { provider: name, purpose: 'oauth-signup' }));
        if (first.startsWith(RETURN_URL)) return said(first);
        return location(answerTo(name, browser, await idp.visit(browser, first, { account: idp.newAccount() })));
      };
      for (const [title, answer] of HOSTILE) {
        let times = 0;
        idp.tamper.answer = (asked, res) => {
          if (asked !== path) return false;
          times += 1;
          answer(res);
          return true;
        };
        expect([title, await signUp()]).toEqual([title, FAILED]);
        expect(times).toBeGreaterThan(0);
      }
      delete idp.tamper.answer;
      expect(await signUp()).toEqual({ onetimeToken: expect.any(String) as string });
    });
  });

  it('is read up to a size, whatever it answers', async () => {
    for (const [bytes, outcome] of [
      [100_000, { onetimeToken: expect.any(String) as string }],
      [600_000, FAILED],
    ] as const) {
      idp.tamper.tokens = (answer) => Object.assign(answer, { more: 'x'.repeat(bytes) });
      expect(await enter()).toEqual(outcome);
    }
  });

  it('that answers slowly keeps nobody waiting for longer than a request may take', async () => {
    const { back } = await visit({ account: idp.newAccount() });
    const path = ANSWERS[name]?.[0];
    idp.tamper.answer = (asked, res) => asked === path && res.write('{');
    expect(await location(back())).toEqual(FAILED);
  }, 15_000);

  it('leaves neither its secrets nor anything of an account in the log', async () => {
    const account = idp.newAccount();
    const { callback, back } = await visit({ account });
    const location = (await back()).headers.get('location') ?? '';
    idp.tamper.tokens = (answer) => {
      answer.access_token = answer.id_token = 5;
    };
    await enter(account);
    const { clientSecret, privateKey } = idp.settings;
    const { client_secret: sent } = idp.tokenRequests.at(-1) ?? {};
    const { code = '', state = '' } = Object.fromEntries(new URL(callback).searchParams);
    const logs = app.logs();
    expect(logs).toContain('an identity provider failed');
    const secrets = [code, state, said(location).onetimeToken, clientSecret, privateKey, sent as string, idp.emailOf(account)];
    for (const secret of secrets.filter((one) => one !== undefined)) expect(logs.includes(secret), secret).toBe(false);
  });
});
