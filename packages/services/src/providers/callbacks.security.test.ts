import {
  RETURN_URL,
  createBrowser,
  newOidcAccount,
  startOf,
  startTestServer,
  throughProvider,
  visitProvider,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { FAILED, answerOf, changed, said, useTwoProviders } from '../../test/two-providers.js';
import { identityModel } from '../identities/identity.model.js';

const UNVERIFIED = [401, { error: { message: 'token could not be verified' } }];

const { app, idp } = useTwoProviders();

const newPerson = async () => {
  const account = newOidcAccount();
  await throughProvider(app, idp, { account }, { purpose: 'oauth-signup' });
  return account;
};

describe('a callback', () => {
  it('without a state, or with a forged, cut or repeated one, fails and leaves the authorization intact', async () => {
    const { browser, callback } = await visitProvider(app, idp, { account: await newPerson() });
    const state = new URL(callback).searchParams.get('state') ?? '';
    for (const forged of ['', 'forged', state.slice(1), `${state}A`, state.toUpperCase(), 'x'.repeat(4096)])
      expect(
        await answerOf(
          browser,
          changed(callback, (given) => given.set('state', forged)),
        ),
      ).toEqual(UNVERIFIED);
    expect(
      await answerOf(
        browser,
        changed(callback, (given) => given.delete('state')),
      ),
    ).toEqual(UNVERIFIED);
    expect(
      await answerOf(
        browser,
        changed(callback, (given) => given.append('state', state)),
      ),
    ).toMatchObject([400, {}]);
    expect(await browser.goTo(callback)).toContain('onetimeToken=');
  });

  it('in another browser fails, whatever cookies it has; the right browser still succeeds', async () => {
    const { browser, callback } = await visitProvider(app, idp, { account: await newPerson() });
    const stranger = createBrowser(app);
    expect(await answerOf(stranger, callback)).toEqual(UNVERIFIED);
    // that has begun a visit of its own
    await stranger.goTo(startOf(app));
    expect(await answerOf(stranger, callback)).toEqual(UNVERIFIED);
    // that gives the secret of its own visit the name of the other cookie
    const [name, secret] = [browser.cookiesFor(callback).split('=')[0], stranger.cookiesFor(callback).split('=')[1]];
    expect(await answerOf(stranger, callback)).toEqual(UNVERIFIED);
    const forged = await app.rest('GET', callback.slice(app.url.length), undefined, { headers: { cookie: `${name}=${secret}` } });
    expect([forged.status, forged.body]).toEqual(UNVERIFIED);
    expect(await browser.goTo(callback)).toContain('onetimeToken=');
  });

  it('works once, even with 20 at once', async () => {
    const { browser, callback } = await visitProvider(app, idp, { account: await newPerson() });
    const cookie = browser.cookiesFor(callback);
    const headers = { cookie };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => app.rest('GET', callback.slice(app.url.length), undefined, { headers })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      302,
      ...Array.from({ length: 19 }, () => 401),
    ]);
    const again = await app.rest('GET', callback.slice(app.url.length), undefined, { headers });
    expect([again.status, again.body]).toEqual(UNVERIFIED);
  });

  it('works once on two instances', async () => {
    await using second = await startTestServer({
      clock: app.clock,
      publicUrl: app.url,
      providers: { acme: idp.settings },
      redirectUrls: [RETURN_URL],
    });
    const { browser, callback } = await visitProvider(app, idp, { account: await newPerson() });
    const headers = { cookie: browser.cookiesFor(callback) };
    const path = callback.slice(app.url.length);
    const answers = await Promise.all(
      [app, second, app, second].map((server) => server.rest('GET', path, undefined, { headers })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([302, 401, 401, 401]);
  });

  it('after ten minutes fails', async () => {
    const { browser, callback } = await visitProvider(app, idp, { account: await newPerson() });
    app.clock.advance(10 * 60_000);
    expect(await answerOf(browser, callback)).toEqual(UNVERIFIED);
  });

  it('of another provider fails and leaves the authorization intact', async () => {
    const { browser, callback } = await visitProvider(app, idp, { account: await newPerson() });
    expect(await answerOf(browser, callback.replace('/acme/', '/other/'))).toEqual(UNVERIFIED);
    expect(await browser.goTo(callback)).toContain('onetimeToken=');
  });

  it('with an error of the provider returns a known word, and none of the provider’s text', async () => {
    const words = [
      ['access_denied', 'access_denied'],
      ['ACCESS_DENIED', 'access_denied'],
      ['server_error', 'provider_error'],
      ['<script>', 'provider_error'],
    ];
    for (const [error, word] of words) {
      const { browser, callback } = await visitProvider(app, idp, { account: await newPerson() });
      const refused = changed(callback, (given) => {
        given.set('error', error ?? '');
        given.set('error_description', 'call this number');
      });
      expect(await browser.goTo(refused)).toBe(`${RETURN_URL}?error=${word}`);
    }
  });

  it('with a refusal never creates or finds an identity, even at sign-up', async () => {
    const before = await app.storage.model(identityModel).estimatedDocumentCount();
    for (const purpose of ['oauth-signup', 'oauth-login'] as const) {
      const visit = await visitProvider(app, idp, { refuse: true }, { purpose });
      expect(said(await visit.browser.goTo(visit.callback))).toEqual({ error: 'access_denied' });
      const bare = await visitProvider(app, idp, { refuse: true }, { purpose });
      const nothing = changed(bare.callback, (given) => given.delete('error'));
      expect(said(await bare.browser.goTo(nothing))).toEqual(FAILED);
    }
    expect(await app.storage.model(identityModel).estimatedDocumentCount()).toBe(before);
  });
});
