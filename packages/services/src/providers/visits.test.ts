import {
  FACES,
  RETURN_URL,
  createBrowser,
  fixture,
  newOidcAccount,
  startOf,
  startOidcProvider,
  startTestServer,
  throughProvider,
  visitProvider,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const idp = fixture(startOidcProvider);
const app = fixture(() => startTestServer({ providers: { acme: idp.settings }, redirectUrls: [RETURN_URL] }));

/** What a return address says, by name. */
const said = (url: URL) => Object.fromEntries(url.searchParams);

describe('a visit to a provider', () => {
  it('begins with a redirect that no cache keeps, PKCE, a nonce and the scopes of an email', async () => {
    const answer = await app.rest('GET', startOf(app).slice(app.url.length));
    const location = new URL(answer.headers.get('location') ?? '');
    expect([answer.status, location.origin, answer.headers.get('cache-control'), answer.headers.get('referrer-policy')]).toEqual([
      302,
      idp.settings.issuer,
      'no-store',
      'no-referrer',
    ]);
    expect(said(location)).toEqual({
      client_id: 'tandem',
      response_type: 'code',
      scope: 'openid email',
      redirect_uri: `${app.url}/auth/oauth/acme/callback`,
      state: expect.stringMatching(/^[\w-]{43}$/) as string,
      nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      code_challenge_method: 'S256',
    });
  });

  it('leaves a cookie for the callback alone, which scripts cannot read and the way back from another site keeps', async () => {
    const answer = await app.rest('GET', startOf(app).slice(app.url.length));
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^oauth-[\w-]{16}=[\w-]{43}; Max-Age=600; Path=\/auth\/oauth; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ]);
    const { browser, callback } = await visitProvider(app, idp, { refuse: true });
    expect(browser.cookiesFor(callback)).not.toBe('');
    await browser.goTo(callback);
    expect(browser.cookiesFor(callback)).toBe('');
  });

  it('takes the settings of the other cookies as far as it can', async () => {
    const cookies = { secure: false, sameSite: 'none', domain: 'example.org' } as const;
    const publicUrl = 'https://example.org/api';
    await using server = await startTestServer({
      cookies,
      publicUrl,
      providers: { acme: idp.settings },
      redirectUrls: [RETURN_URL],
    });
    const answer = await server.rest('GET', startOf(server).slice(server.url.length));
    expect(answer.headers.getSetCookie()[0]).toMatch(/; Path=\/api\/auth\/oauth; Expires=[^;]+; HttpOnly; SameSite=None$/);
    expect(new URL(answer.headers.get('location') ?? '').searchParams.get('redirect_uri')).toBe(
      `${publicUrl}/auth/oauth/acme/callback`,
    );
  });

  it('works in two tabs of one browser at once, in any order', async () => {
    const browser = createBrowser(app);
    const account = newOidcAccount();
    const [first, second] = [await browser.goTo(startOf(app)), await browser.goTo(startOf(app, { purpose: 'oauth-signup' }))];
    for (const address of [second, first])
      expect(await browser.goTo(await idp.visit(browser, address, { account }))).toContain('onetimeToken=');
  });

  it('returns with an error if the person refuses, whatever the purpose', async () => {
    for (const purpose of ['oauth-login', 'oauth-signup'] as const)
      expect(said(await throughProvider(app, idp, { refuse: true }, { purpose }))).toEqual({ error: 'access_denied' });
  });

  it('keeps the query of the return address, and nothing there that looks like our answer', async () => {
    const redirectUrl = `${RETURN_URL}?lang=%C3%A9n&error=mine&onetimeToken=forged&linked=x&error=again&x=1`;
    const back = await throughProvider(app, idp, { refuse: true }, { redirectUrl });
    expect(back.href).toBe(`${RETURN_URL}?lang=%C3%A9n&x=1&error=access_denied`);
  });

  it('ignores parameters that the provider adds to the callback', async () => {
    const { browser, callback } = await visitProvider(app, idp, { account: newOidcAccount() }, { purpose: 'oauth-signup' });
    expect(await browser.goTo(`${callback}&session_state=1&hd=example.org&authuser=0`)).toContain('onetimeToken=');
  });

  it('to a provider that is not configured is 404, its callback too', async () => {
    for (const provider of ['google', 'ACME', 'acme2', 'constructor', '__proto__', '..%2Facme']) {
      const path = `/auth/oauth/${provider}`;
      await app.rest('GET', `${path}?purpose=oauth-login&redirectUrl=${RETURN_URL}`).expect(404, 'Provider not found');
      await app.rest('GET', `${path}/callback?state=x`).expect(404, 'Provider not found');
    }
  });

  it('is refused for other purposes and unknown parameters, all reported at once', async () => {
    const answer = await app.rest('GET', '/auth/oauth/acme?purpose=oauth-link&fp=&typeId=admin&redirectUrl=https://evil.example');
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        error: {
          message: 'Validation Error',
          data: [
            "query parameter 'purpose' must be equal to one of the allowed values: oauth-login, oauth-signup",
            "query parameter 'redirectUrl' is not allowed",
            "query parameter 'fp' must NOT have fewer than 1 characters",
            "query parameter 'typeId' is not allowed",
          ],
        },
      },
    ]);
  });
});

describe.each(FACES)('the procedures over %s', (face) => {
  it('answer the same', async () => {
    const given = { provider: 'acme', purpose: 'oauth-login', redirectUrl: RETURN_URL };
    expect(await app.call(face, 'auth.startOauth', given)).toEqual({
      ok: true,
      value: { location: expect.stringContaining(idp.settings.issuer) as string },
    });
    expect(await app.call(face, 'auth.startOauth', { ...given, provider: 'none' })).toMatchObject({ status: 404 });
    expect(await app.call(face, 'auth.startOauth', { ...given, redirectUrl: 'https://evil.example' })).toEqual({
      ok: false,
      status: 400,
      message: 'Validation Error',
      data: ["query parameter 'redirectUrl' is not allowed"],
    });
    expect(await app.call(face, 'auth.finishOauth', { provider: 'acme', state: 'forged', code: 'x' })).toEqual({
      ok: false,
      status: 401,
      message: 'token could not be verified',
    });
  });
});

describe('a provider that is away', () => {
  it('does not keep a server from starting, redirects people back at once, and is used once it is up again', async () => {
    const gone = await startOidcProvider();
    await gone.stop();
    await using server = await startTestServer({ providers: { acme: gone.settings }, redirectUrls: [RETURN_URL] });
    const back = new URL(await createBrowser(server).goTo(startOf(server)));
    expect(back.href).toBe(`${RETURN_URL}?error=provider_error`);
    expect(server.logs()).toContain('an identity provider failed');
  });

  it('in the middle of a visit sends them back as well', async () => {
    const leaving = await startOidcProvider();
    await using server = await startTestServer({ providers: { acme: leaving.settings }, redirectUrls: [RETURN_URL] });
    const { browser, callback } = await visitProvider(server, leaving, { account: newOidcAccount() });
    await leaving.stop();
    expect(await browser.goTo(callback)).toBe(`${RETURN_URL}?error=provider_error`);
  });
});
