import {
  RETURN_URL,
  fixture,
  newOidcAccount,
  redeem as redeemAt,
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
const signUp = (account: ReturnType<typeof newOidcAccount>) =>
  throughProvider(app, idp, { account }, { purpose: 'oauth-signup' });
const logIn = (account: ReturnType<typeof newOidcAccount>) => throughProvider(app, idp, { account });
/** Exchanges the token of a return address for a session. */
const redeem = (back: URL, given?: Parameters<typeof redeemAt>[2]) => redeemAt(app, back, given);
const identityOf = ({ id, accessToken }: { id: string; accessToken: string }, fingerprint?: string) =>
  app.rest('GET', `/identities/${id}`, undefined, { accessToken, fingerprint }).expect<Record<string, unknown>>(200);

describe('a sign-up through a provider', () => {
  it('creates a regular identity with the verified email, and returns with a token that signs it in', async () => {
    const account = newOidcAccount({ email: `Ann-${crypto.randomUUID()}@Example.org` });
    const back = await signUp(account);
    expect(back.href).toMatch(/^https:\/\/app\.example\.org\/welcome\?onetimeToken=[\w.-]+$/);
    expect(await identityOf(await redeem(back))).toMatchObject({
      email: account.email?.toLowerCase(),
      emailVerified: true,
      typeId: 'regular',
    });
  });

  it('signs in an existing identity', async () => {
    const account = newOidcAccount();
    const first = await redeem(await signUp(account));
    expect((await redeem(await signUp(account))).id).toBe(first.id);
  });

  it('answers 409 in the envelope where the email is in use, and links nothing', async () => {
    const ann = await app.signUp();
    const account = newOidcAccount({ email: ann.email.toUpperCase() });
    const { browser, callback } = await visitProvider(app, idp, { account }, { purpose: 'oauth-signup' });
    const answer = await browser.send('GET', callback);
    expect([answer.status, answer.body]).toEqual([409, { error: { message: 'Email already in use' } }]);
    expect(said(await logIn(account))).toEqual({ error: 'identity_not_found' });
  });

  it('creates one identity, however often a person signs up at once', async () => {
    const account = newOidcAccount();
    const visits = await Promise.all(
      Array.from({ length: 10 }, () => visitProvider(app, idp, { account }, { purpose: 'oauth-signup' })),
    );
    const backs = await Promise.all(visits.map(({ browser, callback }) => browser.goTo(callback)));
    const people = await Promise.all(backs.map((back, at) => redeem(new URL(back), { browser: visits[at]?.browser })));
    expect(new Set(people.map(({ id }) => id)).size).toBe(1);
  });

  it.each([
    ['an email that is not verified', { email_verified: false }, 'email_not_verified'],
    ['an email of which the provider says nothing more', { email_verified: undefined }, 'email_not_verified'],
    ['no email', { email: undefined }, 'email_missing'],
    ['what is no email', { email: 'ann' }, 'email_missing'],
  ])('with %s comes back with an error, and makes nothing', async (_, given, error) => {
    const account = newOidcAccount(given);
    expect(said(await signUp(account))).toEqual({ error });
    expect(said(await logIn(account))).toEqual({ error: 'identity_not_found' });
  });

  it('takes the claims of the ID token where they are there, and an unsaid verification only where it is told to trust', async () => {
    await using other = await startOidcProvider({
      claimsInIdToken: true,
      idTokenAlgorithm: 'HS256',
      names: ['hmac', 'trusting'],
    });
    const settings = { ...other.settings, idTokenAlgorithm: 'HS256' };
    await using server = await startTestServer({
      providers: { hmac: settings, trusting: { ...settings, trustEmail: true } },
      redirectUrls: [RETURN_URL],
    });
    const through = (provider: string, given: object) =>
      throughProvider(server, other, { account: newOidcAccount(given) }, { provider, purpose: 'oauth-signup' });
    expect([...(await through('hmac', {})).searchParams.keys()]).toEqual(['onetimeToken']);
    expect([...(await through('trusting', { email_verified: undefined })).searchParams.keys()]).toEqual(['onetimeToken']);
    expect(said(await through('hmac', { email_verified: undefined }))).toEqual({ error: 'email_not_verified' });
    expect(said(await through('trusting', { email_verified: false }))).toEqual({ error: 'email_not_verified' });
  });
});

describe('a login through a provider', () => {
  it('signs in the identity of the account, whatever has become of its email', async () => {
    const account = newOidcAccount();
    const { id } = await redeem(await signUp(account));
    for (const now of [{}, { email: undefined }, { email_verified: false }, { email: 'another@example.org' }])
      expect((await redeem(await logIn({ ...account, ...now }))).id).toBe(id);
  });

  it('of an account that nobody has linked comes back with an error', async () => {
    expect(said(await logIn(newOidcAccount()))).toEqual({ error: 'identity_not_found' });
  });

  it('of a barred identity comes back with an error, a sign-up too', async () => {
    const admin = await app.signUpAdmin();
    const account = newOidcAccount();
    const { id } = await redeem(await signUp(account));
    await admin.rest('POST', `/identities/${id}/lock`).expect(204);
    for (const enter of [logIn, signUp]) expect(said(await enter(account))).toEqual({ error: 'account_locked' });
    await admin.rest('POST', `/identities/${id}/unlock`).expect(204);
    expect((await redeem(await logIn(account))).id).toBe(id);
  });

  it('gives a session with the fingerprint of the start', async () => {
    const account = newOidcAccount();
    await signUp(account);
    const back = await throughProvider(app, idp, { account }, { fp: ' device 1 ' });
    const session = await redeem(back, { fingerprint: 'device 1' });
    await identityOf(session, 'device 1');
    await app.rest('GET', `/identities/${session.id}`, undefined, session).expect(401, 'Token fails security check');
  });

  it('gives a token that lives for five minutes', async () => {
    const account = newOidcAccount();
    await signUp(account);
    const [early, late] = [await logIn(account), await logIn(account)];
    app.clock.advance(4 * 60_000);
    await redeem(early);
    app.clock.advance(60_000);
    const token = late.searchParams.get('onetimeToken');
    await app.rest('POST', '/auth/ott/login', { token }).expect(401, 'token could not be verified');
  });
});

describe('the audit trail', () => {
  it('has sign-ups, logins and refusals with the provider, and nothing of the account', async () => {
    const admin = await app.signUpAdmin();
    const account = newOidcAccount();
    const { id } = await redeem(await signUp(account));
    await logIn(account);
    await admin.rest('POST', `/identities/${id}/lock`).expect(204);
    await logIn(account);
    await app.tandem.services.audit.settle();
    const { data } = await admin.rest('GET', `/auth/${id}/events?limit=50`).expect<{ data: Record<string, unknown>[] }>(200);
    const ofProvider = data.filter(({ details }) => (details as { provider?: string }).provider === 'acme').toReversed();
    expect(ofProvider).toMatchObject([
      { type: 'provider.signup', actorId: id, ip: '127.0.0.1' },
      { type: 'provider.login', actorId: id },
      { type: 'login.failed', actorId: null, details: { reason: 'barred' } },
    ]);
    for (const personal of [account.sub, account.email]) expect(JSON.stringify(data)).not.toContain(personal);
  });
});
