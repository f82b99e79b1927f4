import { FACES, cookiesOf, startTestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { cookiePrefixOf } from './cookies.js';

const MODES = { auth: 'cookie', identities: 'cookie' } as const;
const UNDETECTED = { ok: false, status: 401, message: 'Unable to detect access token' };

describe.each(['__Host-', '__Secure-'] as const)('with the prefix %s', (prefix) => {
  it.each(FACES)('all cookies have it over %s, and are only accepted with it', async (face) => {
    await using app = await startTestServer({ authModes: MODES, cookies: { secure: true, sameSite: 'strict', prefix } });
    const ann = await app.signUp();
    expect(await ann.call(face, 'identities.get', { identityId: ann.id })).toMatchObject({ ok: true });
    const bare = { headers: { cookie: `accessToken=${ann.accessToken}; refreshToken=${ann.refreshToken}` } };
    expect(await app.call(face, 'identities.get', { identityId: ann.id }, bare)).toEqual(UNDETECTED);

    const cookie = `${prefix}refreshToken=${ann.refreshToken}; refreshToken=planted`;
    const renewed = await app.rest('POST', '/auth/token/refresh', undefined, { headers: { cookie } });
    expect(Object.keys(cookiesOf(renewed))).toEqual([`${prefix}accessToken`, `${prefix}refreshToken`]);
    const ended = await ann.rest('POST', '/auth/logout');
    for (const { headers } of [renewed, ended])
      for (const text of headers.getSetCookie()) {
        expect(text).toMatch(new RegExp(`^${prefix}(access|refresh)Token=`));
        expect(text).toMatch(/; Path=\/;.*; Secure/);
        expect(text).not.toContain('Domain');
      }
  });

  it('the API document names the prefixed cookie', async () => {
    await using app = await startTestServer({ authModes: MODES, cookies: { secure: true, prefix } });
    const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as {
      components: { securitySchemes: { cookie: { name: string } } };
    };
    expect(document.components.securitySchemes.cookie.name).toBe(`${prefix}accessToken`);
  });

  it('the cookie of an authorization has it, on a path that browsers accept', async () => {
    await using app = await startTestServer({
      cookies: { secure: true, prefix },
      providers: { twitter: { clientId: 'a', clientSecret: 'b' } },
      redirectUrls: ['https://app.example.org/'],
    });
    const query = 'purpose=oauth-login&redirectUrl=https%3A%2F%2Fapp.example.org%2F';
    const answer = await fetch(`${app.url}/auth/oauth/twitter?${query}`, { redirect: 'manual' });
    expect(answer.status).toBe(302);
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toMatch(new RegExp(`^${prefix}oauth-`));
    expect(cookie).toContain(prefix === '__Host-' ? 'Path=/;' : 'Path=/auth/oauth;');
  });

  it('a server whose settings contradict the prefix does not start', () => {
    expect(() => cookiePrefixOf({ prefix, secure: false })).toThrow(`cookies.prefix: ${prefix} needs cookies.secure`);
  });
});

it('only __Host- forbids a domain', () => {
  expect(() => cookiePrefixOf({ prefix: '__Host-', domain: 'example.org' })).toThrow('__Host- allows no cookies.domain');
  expect(cookiePrefixOf({ prefix: '__Secure-', domain: 'example.org' })).toBe('__Secure-');
});
