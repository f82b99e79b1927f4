import {
  RETURN_URL,
  fixture,
  newMicrosoftAccount,
  redeem,
  startMicrosoftProvider,
  startOf,
  startTestServer,
  throughProvider,
  type MicrosoftAccount,
  type ProviderVisit,
} from '@tandem/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { ALTERATIONS } from '../../test/id-tokens.js';
import { FAILED, said } from '../../test/two-providers.js';

const microsoft = fixture(startMicrosoftProvider);
const app = fixture(() => startTestServer({ providers: { microsoft: microsoft.settings }, redirectUrls: [RETURN_URL] }));
afterEach(() => {
  delete microsoft.tamper.authorization;
  delete microsoft.tamper.tokens;
});

const VISIT = { provider: 'microsoft', purpose: 'oauth-signup' } as const;
const enter = (account: MicrosoftAccount, given: ProviderVisit = VISIT, on = app) =>
  throughProvider(on, microsoft, { account }, given);
const logIn = (account: MicrosoftAccount) => enter(account, { provider: 'microsoft' });

describe('microsoft', () => {
  it('is asked for the account, which it names only with the profile, and its email', async () => {
    const answer = await app.rest('GET', startOf(app, VISIT).slice(app.url.length));
    const location = new URL(answer.headers.get('location') ?? '');
    expect(location.pathname).toBe('/common/oauth2/v2.0/authorize');
    expect(said(location)).toMatchObject({
      scope: 'openid profile email',
      nonce: expect.stringMatching(/^[\w-]{43}$/) as string,
    });
    expect(said(location)).not.toHaveProperty('response_mode');
  });

  it('knows people of every tenant by the tenant and the object, not by `sub`, which differs with the app', async () => {
    const [first, second] = microsoft.tenants;
    const account = newMicrosoftAccount({ tenant: first });
    const { id } = await redeem(app, await enter(account));
    expect((await redeem(app, await logIn({ ...account, sub: 'of another app' }))).id).toBe(id);
    // the same object elsewhere is somebody else
    const other = { ...account, tenant: second, email: 'other@contoso.example' };
    expect(said(await logIn(other))).toEqual({ error: 'identity_not_found' });
    const { id: otherId } = await redeem(app, await enter(other));
    expect(otherId).not.toBe(id);
    // the same `sub` with another object, too
    expect(said(await logIn({ ...newMicrosoftAccount(), sub: account.sub }))).toEqual({ error: 'identity_not_found' });
  });

  it('says by `xms_edov` alone whether an address is its owner’s: other claims may be anybody’s', async () => {
    for (const verified of [true, 1, '1', 'true'])
      expect(said(await enter(newMicrosoftAccount({ xms_edov: verified })))).toHaveProperty('onetimeToken');
    for (const verified of [false, 0, '0', 'false', '', null, [true], undefined]) {
      const account = newMicrosoftAccount({ xms_edov: verified, email_verified: true });
      expect(said(await enter(account))).toEqual({ error: 'email_not_verified' });
    }
  });

  it('gives an address in `email` alone: a name to sign in by is none', async () => {
    const { email: _, ...account } = newMicrosoftAccount();
    expect(said(await enter(account))).toEqual({ error: 'email_missing' });
  });

  it('is not believed with a token of another tenant than that of its issuer, or without a tenant or an object', async () => {
    const [first, second] = microsoft.tenants;
    for (const wrong of [
      { tenant: first, tid: second },
      { tid: '' },
      { tid: 'common' },
      { tid: first.toUpperCase() },
      { tid: '{tenantid}' },
      { tid: '$&' },
      { tid: [first] as never },
      { tid: null as never },
      { oid: '' },
      { oid: `${crypto.randomUUID()}:x` },
      { oid: null as never },
      { oid: 5 as never },
    ])
      expect([wrong, said(await enter(newMicrosoftAccount(wrong)))]).toEqual([wrong, FAILED]);
  });

  it('is not believed with the nonce of another visit', async () => {
    for (const nonce of ['another', undefined]) {
      microsoft.tamper.authorization = (given) => (nonce === undefined ? given.delete('nonce') : given.set('nonce', nonce));
      expect(said(await enter(newMicrosoftAccount()))).toEqual(FAILED);
    }
  });

  it.each(ALTERATIONS)('is not believed with an ID token %s', async (_, alter) => {
    microsoft.tamper.tokens = (answer) => {
      const altered = alter(answer.id_token as string);
      if (altered === undefined) delete answer.id_token;
      else answer.id_token = altered;
    };
    expect(said(await enter(newMicrosoftAccount()))).toEqual(FAILED);
  });

  it('of one tenant lets nobody of another in', async () => {
    const [first, second] = microsoft.tenants;
    const settings = { ...microsoft.settings, tenant: first, issuer: `${microsoft.url}/${first}/v2.0` };
    await using server = await startTestServer({ clock: app.clock, providers: { microsoft: settings }, redirectUrls: [RETURN_URL] }); // prettier-ignore
    expect(said(await enter(newMicrosoftAccount(), VISIT, server))).toHaveProperty('onetimeToken');
    expect(said(await enter(newMicrosoftAccount({ tid: second }), VISIT, server))).toEqual(FAILED);
  });

  it('at an issuer of one’s own, without a tenant, is any provider, as before: known by `sub`', async () => {
    const [tenant] = microsoft.tenants;
    const { tenant: _, ...settings } = { ...microsoft.settings, issuer: `${microsoft.url}/${tenant}/v2.0` };
    await using server = await startTestServer({ clock: app.clock, providers: { work: settings }, redirectUrls: [RETURN_URL] });
    const account = newMicrosoftAccount({ email_verified: true, xms_edov: false });
    const visit = { provider: 'work', purpose: 'oauth-signup' } as const;
    const { id } = await redeem(server, await enter(account, visit, server));
    const back = await enter({ ...account, oid: crypto.randomUUID() }, { provider: 'work' }, server);
    expect((await redeem(server, back)).id).toBe(id);
  });
});
