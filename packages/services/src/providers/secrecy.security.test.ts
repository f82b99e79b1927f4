import {
  RETURN_URL,
  createBrowser,
  newOidcAccount,
  redeem,
  startOf,
  startTestServer,
  throughProvider,
  visitProvider,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { FAILED, answerOf, said, useTwoProviders } from '../../test/two-providers.js';
import { identityModel } from '../identities/identity.model.js';
import { oauthStateModel } from './oauth-state.model.js';

const { app, idp } = useTwoProviders();

const identitiesOf = (email: string | undefined) => app.storage.model(identityModel).countDocuments({ email: email ?? '' });

describe('a sign-up', () => {
  it('never takes a type from the request, on either face', async () => {
    const start = startOf(app, { purpose: 'oauth-signup' });
    for (const name of ['typeId', 'type', 'identityTypeId'])
      expect(await answerOf(createBrowser(app), `${start}&${name}=admin`)).toMatchObject([
        400,
        { error: { data: [`query parameter '${name}' is not allowed`] } },
      ]);
    const given = { provider: 'acme', purpose: 'oauth-signup', redirectUrl: RETURN_URL, typeId: 'admin' };
    expect(await app.call('trpc', 'auth.startOauth', given)).toMatchObject({ ok: false, status: 400 });
  });

  it('with somebody’s address that the provider has not verified makes nothing that its owner could walk into', async () => {
    const account = newOidcAccount({ email_verified: false });
    await throughProvider(app, idp, { account }, { purpose: 'oauth-signup' });
    expect(await identitiesOf(account.email)).toBe(0);
  });

  it('never joins the identity that has the same address, verified or not', async () => {
    const ann = await app.signUp();
    const account = newOidcAccount({ email: ann.email });
    const { browser, callback } = await visitProvider(app, idp, { account }, { purpose: 'oauth-signup' });
    expect(await answerOf(browser, callback)).toMatchObject([409, {}]);
    expect(await app.tandem.services.identities.providerAccounts.list(ann.id)).toEqual([]);
  });
});

describe('a second factor', () => {
  it('is asked for after a provider too', async () => {
    const settings = { mfaEnabled: true, clock: app.clock, providers: { acme: idp.settings }, redirectUrls: [RETURN_URL] };
    await using server = await startTestServer(settings);
    const account = newOidcAccount();
    for (const purpose of ['oauth-signup', 'oauth-login'] as const) {
      const answer = await redeem(server, await throughProvider(server, idp, { account }, { purpose }));
      expect(Object.keys(answer)).toEqual(['token']);
    }
  });
});

describe('secrets', () => {
  it('of a visit are not in the store, and of an account nothing is in any log', async () => {
    const account = newOidcAccount();
    const fp = 'the fingerprint of a device';
    const { browser, callback } = await visitProvider(app, idp, { account }, { purpose: 'oauth-signup', fp });
    const state = new URL(callback).searchParams.get('state') ?? '';
    const browserSecret = browser.cookiesFor(callback).split('=')[1] ?? '';
    const stored = JSON.stringify(await app.storage.model(oauthStateModel).collection.find().toArray());
    for (const secret of [state, browserSecret, fp]) expect(stored).not.toContain(secret);

    const back = await browser.goTo(callback);
    idp.tamper.tokens = (answer) => {
      answer.id_token = 'garbage';
    };
    await throughProvider(app, idp, { account });
    const logs = app.logs();
    expect(logs).toContain('an identity provider failed');
    const code = new URL(callback).searchParams.get('code') ?? '';
    const { clientSecret } = idp.settings;
    const secrets = [account.sub, account.email ?? '', state, browserSecret, code, fp, clientSecret, back.split('=')[1] ?? ''];
    for (const secret of secrets) expect(logs.includes(secret), secret).toBe(false);
  });

  it('of a visit are removed with it', async () => {
    const { browser, callback } = await visitProvider(app, idp, { refuse: true });
    const states = app.storage.model(oauthStateModel);
    const before = await states.countDocuments({});
    await browser.goTo(callback);
    expect(await states.countDocuments({})).toBe(before - 1);
    app.clock.advance(10 * 60_000);
    await app.storage.sweep();
    expect(await states.countDocuments({})).toBe(0);
  });
});

describe('a provider that does not answer', () => {
  it('keeps nobody waiting for longer than a request may take', async () => {
    const { createServer } = await import('node:net');
    const silent = createServer(() => {});
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
    const { port } = silent.address() as { port: number };
    const providers = { acme: { clientId: 'a', clientSecret: 'b', issuer: `http://127.0.0.1:${port}` } };
    await using server = await startTestServer({ providers, redirectUrls: [RETURN_URL] });
    expect(said(await createBrowser(server).goTo(startOf(server)))).toEqual(FAILED);
    silent.close();
  });
});
