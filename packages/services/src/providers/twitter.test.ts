import { randomUUID } from 'node:crypto';
import {
  RETURN_URL,
  fixture,
  redeem,
  startOAuth2Server,
  startOf,
  startTestServer,
  throughProvider,
  visitProvider,
  type OAuth2Account,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const x = fixture(startOAuth2Server);
const app = fixture(() => startTestServer({ providers: { twitter: x.settings }, redirectUrls: [RETURN_URL] }));

const newAccount = (): OAuth2Account => ({ id: randomUUID(), confirmed_email: `${randomUUID()}@example.org` });
const enter = (account: OAuth2Account, purpose: 'oauth-login' | 'oauth-signup') =>
  throughProvider(app, x, { account }, { provider: 'twitter', purpose });
const said = (url: URL) => Object.fromEntries(url.searchParams);

describe('twitter', () => {
  it('signs up with the confirmed email and in with the account', async () => {
    const account = newAccount();
    const session = await redeem(app, await enter(account, 'oauth-signup'));
    expect(await app.rest('GET', `/identities/${session.id}`, undefined, session).expect(200)).toMatchObject({
      email: account.confirmed_email,
      emailVerified: true,
      typeId: 'regular',
    });
    expect((await redeem(app, await enter({ id: account.id ?? '' }, 'oauth-login'))).id).toBe(session.id);
  });

  it('may name an issuer in its callback, of which its documentation says nothing', async () => {
    const visit = { provider: 'twitter', purpose: 'oauth-signup' } as const;
    const { browser, callback } = await visitProvider(app, x, { account: newAccount() }, visit);
    const back = await browser.goTo(`${callback}&iss=${encodeURIComponent('https://x.example')}`);
    expect(said(new URL(back))).toHaveProperty('onetimeToken');
  });

  it('is asked with PKCE, a state and the scopes of an email, and without a nonce', async () => {
    await visitProvider(app, x, { refuse: true }, { provider: 'twitter' });
    const { state, code_challenge: challenge, ...asked } = Object.fromEntries(x.authorizations.at(-1) ?? []);
    expect([state, challenge]).toEqual([expect.stringMatching(/^[\w-]{43}$/), expect.stringMatching(/^[\w-]{43}$/)]);
    expect(asked).toEqual({
      client_id: 'tandem',
      response_type: 'code',
      scope: 'users.read tweet.read users.email',
      redirect_uri: `${app.url}/auth/oauth/twitter/callback`,
      code_challenge_method: 'S256',
    });
  });

  it('without a confirmed email signs nobody up, and without an account nobody in', async () => {
    expect(said(await enter({ id: randomUUID() }, 'oauth-signup'))).toEqual({ error: 'email_missing' });
    for (const account of [{}, { id: '' }, { id: 5 as never }, { id: 'x'.repeat(256) }])
      for (const purpose of ['oauth-signup', 'oauth-login'] as const)
        expect(said(await enter({ ...newAccount(), id: '', ...account }, purpose))).toEqual({ error: 'provider_error' });
  });

  it('redirects people back when it refuses or fails', async () => {
    const refuse = { refuse: true } as const;
    expect(said(await throughProvider(app, x, refuse, { provider: 'twitter' }))).toEqual({ error: 'access_denied' });
    const [victim, thief] = [await visitProvider(app, x, { account: newAccount() }, { provider: 'twitter' }), await visitProvider(app, x, refuse, { provider: 'twitter' })]; // prettier-ignore
    const injected = new URL(thief.callback);
    injected.searchParams.delete('error');
    injected.searchParams.set('code', new URL(victim.callback).searchParams.get('code') ?? '');
    expect(said(new URL(await thief.browser.goTo(injected.href)))).toEqual({ error: 'provider_error' });
  });
});

describe('the known providers', () => {
  it('need no addresses: X has fixed ones', async () => {
    const settings = { clientId: 'a', clientSecret: 'b' };
    await using server = await startTestServer({
      providers: { google: settings, line: settings, twitter: settings },
      redirectUrls: [RETURN_URL],
    });
    const answer = await server.rest('GET', startOf(server, { provider: 'twitter' }).slice(server.url.length));
    const location = new URL(answer.headers.get('location') ?? '');
    expect(location.origin + location.pathname).toBe('https://x.com/i/oauth2/authorize');
  });
});
