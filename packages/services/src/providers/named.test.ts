import {
  NEW_PASSWORD,
  PASSWORD,
  RETURN_URL,
  createBrowser,
  redeem,
  startTestServer,
  throughProvider,
  type Browser,
  type Person,
  type ProviderVisit,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { NAMED, answerTo, useNamedProvider, visitNamed } from '../../test/named-providers.js';
import { said } from '../../test/two-providers.js';

describe.each(Object.keys(NAMED))('%s', (name) => {
  const { app, idp } = useNamedProvider(name);
  const enter = (account: object, purpose: ProviderVisit['purpose'] = 'oauth-login') =>
    throughProvider(app, idp, { account }, { provider: name, purpose });
  const signUp = async (account = idp.newAccount()) => ({
    account,
    ...(await redeem(app, await enter(account, 'oauth-signup'))),
  });

  async function beginLink(person: Person, browser: Browser): Promise<string> {
    const headers = { authorization: `Bearer ${person.accessToken}` };
    const url = `${app.url}/auth/${person.id}/oauth/${name}`;
    const { body } = await browser.send('POST', url, { redirectUrl: RETURN_URL, password: PASSWORD }, headers);
    return (body as { url: string }).url;
  }
  async function link(person: Person, account: object) {
    const browser = createBrowser(app);
    return answerTo(name, browser, await idp.visit(browser, await beginLink(person, browser), { account }));
  }

  it('signs up with the verified address and in with the account, as a regular identity, and the audit trail says so', async () => {
    const { account, id, accessToken } = await signUp();
    const email = idp.emailOf(account).toLowerCase();
    const shown = await app.rest('GET', `/identities/${id}`, undefined, { accessToken }).expect(200);
    expect(shown).toMatchObject({ email, emailVerified: true, typeId: 'regular' });
    expect((await redeem(app, await enter(account))).id).toBe(id);
    const admin = await app.signUpAdmin();
    const { data } = await admin.rest('GET', `/auth/${id}/events?limit=20`).expect<{ data: { type: string }[] }>(200);
    const types = data.map(({ type }) => type);
    for (const type of ['provider.signup', 'provider.login']) expect(types).toContain(type);
  });

  it('signs nobody up with an address that it has not verified, and in by an account that is not linked', async () => {
    const account = idp.newUnverified();
    expect(said(await enter(account, 'oauth-signup'))).toEqual({ error: 'email_not_verified' });
    expect(said(await enter(account))).toEqual({ error: 'identity_not_found' });
    expect(said(await enter(idp.newAccount()))).toEqual({ error: 'identity_not_found' });
  });

  it('answers 409 where the address is in use, and joins nothing', async () => {
    const ann = await app.signUp({ isVerified: true });
    const account = idp.newAccount(ann.email);
    const { back } = await visitNamed(name, { app, idp }, { account }, { purpose: 'oauth-signup' });
    const { status, body } = await back();
    expect([status, body]).toEqual([409, { error: { message: 'Email already in use' } }]);
    expect(said(await enter(account))).toEqual({ error: 'identity_not_found' });
  });

  it('sends people back who refuse', async () => {
    for (const purpose of ['oauth-login', 'oauth-signup'] as const)
      expect(said(await throughProvider(app, idp, { refuse: true }, { provider: name, purpose }))).toEqual({ error: 'access_denied' }); // prettier-ignore
  });

  it('is linked by a person who signs in by it then, whatever its address, and unlinked with the password', async () => {
    const ann = await app.signUp({ isVerified: true });
    const account = idp.newUnverified();
    expect((await link(ann, account)).headers.get('location')).toBe(`${RETURN_URL}?linked=${name}`);
    const session = await redeem(app, await enter(account));
    expect(session.id).toBe(ann.id);
    expect(await ann.rest('GET', `/auth/${ann.id}/oauth`).expect(200)).toMatchObject([{ provider: name }]);
    await ann.rest('POST', `/auth/${ann.id}/oauth/${name}`, { redirectUrl: RETURN_URL, password: PASSWORD }).expect(409, 'Provider account already linked'); // prettier-ignore
    const bob = await app.signUp({ isVerified: true });
    const refused = await link(bob, account);
    expect([refused.status, refused.body]).toEqual([409, { error: { message: 'Provider account already linked' } }]);
    await ann.rest('DELETE', `/auth/${ann.id}/oauth/${name}`, { password: PASSWORD }).expect(204);
    // the session that came by it has ended
    expect((await app.rest('GET', `/identities/${ann.id}`, undefined, session)).status).toBe(401);
    expect(said(await enter(account))).toEqual({ error: 'identity_not_found' });
  });

  it('cannot be unlinked while it is the only way in', async () => {
    const { id, accessToken } = await signUp();
    await app.rest('DELETE', `/auth/${id}/oauth/${name}`, {}, { accessToken }).expect(409);
  });

  it('signs in no identity that is locked or deactivated', async () => {
    const [{ account, id }, admin] = [await signUp(), await app.signUpAdmin()];
    await admin.rest('POST', `/identities/${id}/lock`).expect(204);
    expect(said(await enter(account))).toEqual({ error: 'account_locked' });
    await admin.rest('POST', `/identities/${id}/unlock`).expect(204);
    await admin.rest('POST', '/auth/deactivate', { identityId: id }).expect(204);
    expect(said(await enter(account))).toEqual({ error: 'account_locked' });
  });

  it('is one step of two where the server asks for a second', async () => {
    const settings = { mfaEnabled: true, clock: app.clock, providers: { [name]: idp.settings }, redirectUrls: [RETURN_URL] };
    await using server = await startTestServer(settings);
    const account = idp.newAccount();
    for (const purpose of ['oauth-signup', 'oauth-login'] as const) {
      const back = await throughProvider(server, idp, { account }, { provider: name, purpose });
      expect(Object.keys(await redeem(server, back))).toEqual(['token']);
    }
  });

  it('is unlinked by the first proof of the address: who registered it may be somebody else', async () => {
    const ann = await app.signUp({ isVerified: true });
    const account = idp.newUnverified();
    await link(ann, account);
    const admin = await app.signUpAdmin();
    await admin.rest('PATCH', `/identities/${ann.id}`, { emailVerified: false }).expect(200);
    await app.rest('POST', '/auth/send-reset-password-link-email', { email: ann.email }).expect(204);
    const { token } = await app.mail.next(ann.email, ({ text }) => text.includes('reset-password'));
    await app.rest('POST', '/auth/reset-password', { token, password: NEW_PASSWORD }).expect(204);
    expect(said(await enter(account))).toEqual({ error: 'identity_not_found' });
  });
});
