import { RETURN_URL, fixture, startOidcProvider, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const redirectUrls = [RETURN_URL, 'https://shop.example.org', 'http://localhost:5173/callback'];
const idp = fixture(startOidcProvider);
const app = fixture(() => startTestServer({ providers: { acme: idp.settings }, redirectUrls }));

const start = (redirectUrl: string) =>
  app.rest('GET', `/auth/oauth/acme?${new URLSearchParams({ purpose: 'oauth-login', redirectUrl }).toString()}`);

describe('a return address', () => {
  it.each([
    'https://app.example.org/welcome',
    'https://app.example.org/welcome?a=1&next=https://evil.example/',
    'HTTPS://App.Example.org/welcome',
    'https://app.example.org:443/welcome',
    'https://app.example.org/x/../welcome',
    'https://shop.example.org',
    'https://shop.example.org/',
    'https://shop.example.org?a=1',
    'http://localhost:5173/callback',
  ])('%s is allowed', async (address) => {
    expect((await start(address)).status).toBe(302);
  });

  it.each([
    'https://evil.example/welcome',
    'https://evil.example/https://app.example.org/welcome',
    'https://app.example.org.evil.example/welcome',
    'https://evilapp.example.org/welcome',
    'https://app.example.org@evil.example/welcome',
    'https://app.example.org%2Fwelcome@evil.example/',
    'https://user:password@app.example.org/welcome',
    'https://app.example.org:8443/welcome',
    'https://app.example.org./welcome',
    'https://app.example.org../welcome',
    'http://app.example.org/welcome',
    'https://app.example.org/',
    'https://app.example.org',
    'https://app.example.org/welcome/',
    'https://app.example.org/Welcome',
    'https://app.example.org/welcome/../admin',
    'https://app.example.org/welcome/%2e%2e/admin',
    'https://app.example.org/welcome%2f..%2fadmin',
    'https://app.example.org/welcome;x',
    'https://app.example.org//welcome',
    'https://app.example.org/welcome#token',
    'https://app.example.org/welcome#',
    'https://shop.example.org/any',
    '//evil.example/welcome',
    '///evil.example/welcome',
    '/welcome',
    'welcome',
    '\\\\evil.example\\welcome',
    'https:\\\\app.example.org\\welcome',
    'https://evil.example\\@app.example.org/welcome',
    'https://app.example.org\\.evil.example/welcome',
    'https:app.example.org/welcome',
    ' https://app.example.org/welcome',
    'https://app.example.org/wel\tcome',
    'https://app.example.org/welcome\n',
    'https://app.example.org/welcome\u0000',
    'https://app.example.org\u3002evil.example/welcome',
    'https://аpp.example.org/welcome',
    'javascript:alert(1)',
    'javascript://app.example.org/welcome%0aalert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'ftp://app.example.org/welcome',
    'blob:https://app.example.org/welcome',
    'com.example.app://welcome',
    'http://localhost:5174/callback',
    'http://127.0.0.1:5173/callback',
    'http://localhost.evil.example:5173/callback',
    'null',
    '',
    `https://app.example.org/welcome?${'x'.repeat(2048)}`,
  ])('%j is refused, and nobody is sent anywhere', async (address) => {
    const answer = await start(address);
    expect([answer.status, answer.headers.get('location'), answer.headers.getSetCookie()]).toEqual([400, null, []]);
    expect(answer.body).toMatchObject({ error: { data: ["query parameter 'redirectUrl' is not allowed"] } });
  });

  it('must be there, once', async () => {
    const query = 'purpose=oauth-login';
    for (const [rest, problem] of [
      ['', "query parameter 'redirectUrl' is required"],
      [`&redirectUrl=${RETURN_URL}&redirectUrl=https://evil.example`, "query parameter 'redirectUrl' must NOT be repeated"],
      [`&redirectUrl[]=${RETURN_URL}`, "query parameter 'redirectUrl' is required"],
    ] as const) {
      const answer = await app.rest('GET', `/auth/oauth/acme?${query}${rest}`);
      expect(answer.status).toBe(400);
      expect((answer.body as { error: { data: string[] } }).error.data).toContain(problem);
    }
  });

  it('is the one of the start: the callback takes none', async () => {
    const answer = await app.rest('GET', '/auth/oauth/acme/callback?state=x&code=y&redirectUrl=https://evil.example');
    expect([answer.status, answer.headers.get('location')]).toEqual([401, null]);
  });

  it('of a link is checked the same way', async () => {
    const ann = await app.signUp({ isVerified: true });
    for (const redirectUrl of ['https://evil.example/welcome', 'https://app.example.org@evil.example', 5])
      expect((await ann.rest('POST', `/auth/${ann.id}/oauth/acme`, { redirectUrl })).status).toBe(400);
    const answer = await ann.rest('POST', `/auth/${ann.id}/oauth/acme`, { redirectUrl: '//evil.example' });
    expect(answer.body).toMatchObject({ error: { data: ['request body/redirectUrl is not allowed'] } });
  });
});

describe('a configuration', () => {
  const settings = { clientId: 'a', clientSecret: 'b' };
  it.each([
    ['http://app.example.org/welcome', /redirectUrls must be https addresses.*, not "http:\/\/app\.example\.org\/welcome"/],
    ['https://app.example.org/welcome?x=1', /without query and fragment/],
    ['https://app.example.org/#x', /without query and fragment/],
    ['https://user@app.example.org/', /must be https addresses/],
    ['app.example.org', /must be https addresses/],
  ])('with the return address %s starts no server', async (address, problem) => {
    await expect(startTestServer({ redirectUrls: [address] })).rejects.toThrow(problem);
  });

  it.each([
    [{ acme: settings }, /providers\.acme\.issuer is missing: only apple, github, google, line, microsoft, twitter need none/],
    [
      { acme: { ...settings, issuer: 'http://idp.example.org' } },
      /providers\.acme\.issuer: .* must be an https address, or http on loopback/,
    ],
    [{ acme: { ...settings, issuer: 'javascript:x' } }, /must be an https address/],
    [{ 'a:b': { ...settings, issuer: 'https://idp.example.org' } }, /a name consists of lower-case letters, digits and hyphens/],
    [{ google: { ...settings, clientSecret: '' } }, /providers\.google\.clientSecret is missing/],
    [{ google: settings }, /redirectUrls is missing/],
  ])('with wrong providers starts no server: %j', async (providers, problem) => {
    const redirectUrls = 'google' in providers && providers.google.clientSecret !== '' ? [] : [RETURN_URL];
    await expect(startTestServer({ providers, redirectUrls })).rejects.toThrow(problem);
  });
});
