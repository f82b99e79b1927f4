import {
  FACES,
  NEW_PASSWORD,
  OK,
  PASSWORD,
  RETURN_URL,
  UNVERIFIED,
  createBrowser,
  fixture,
  newEmail,
  newOidcAccount,
  redeem,
  startOidcProvider,
  startTestServer,
  throughProvider,
  type Credentials,
  type OidcAccount,
  type Person,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { sessionModel } from '../authentication/sessions/session.model.js';

const NOT_VERIFIED = { ok: false, status: 403, message: 'Email is not verified' };
const MINUTE = 60_000;

const idp = fixture(startOidcProvider);
const app = fixture(() => startTestServer({ providers: { acme: idp.settings }, redirectUrls: [RETURN_URL] }));

const tokenTo = async (email: string) => (await app.mail.next(email)).token ?? '';
/** Whether a session still reads its own identity. */
const lives = async (id: string, credentials: Credentials) =>
  (await app.rest('GET', `/identities/${id}`, undefined, credentials)).status === 200;
const linkTo = ({ id }: { id: string }, { sub }: OidcAccount) =>
  app.tandem.services.identities.providerAccounts.link(id, { provider: 'acme', subject: sub }, { _id: 'of the tests', epoch: 0 });
const logIn = (account: OidcAccount) => throughProvider(app, idp, { account });
const linkedOf = ({ id }: { id: string }) => app.tandem.services.identities.providerAccounts.list(id);

/** An identity with a provider whose address is unverified, since an admin has changed it; with a session of each kind. */
async function unprovedWithProvider() {
  const person = await app.signUp({ isVerified: true });
  const account = newOidcAccount();
  await linkTo(person, account);
  const admin = await app.signUpAdmin();
  const email = newEmail();
  await admin.rest('PATCH', `/identities/${person.id}`, { email }).expect(200);
  const byProvider = await redeem(app, await logIn(account));
  const pending = await logIn(account);
  return { id: person.id, email, account, admin, byPassword: person.credentials, byProvider, pending };
}

describe.each(FACES)('an address that nobody has proved, over %s,', (face) => {
  it('links no provider, whatever else is wrong', async () => {
    const attacker = await app.signUp();
    const given = { identityId: attacker.id, provider: 'acme', redirectUrl: RETURN_URL, password: PASSWORD };
    for (const more of [{}, { provider: 'none' }, { redirectUrl: 'https://evil.example' }])
      expect(await attacker.call(face, 'auth.linkProvider', { ...given, ...more })).toEqual(NOT_VERIFIED);
  });

  it('gives no access to a stranger who registered it and linked a provider, once its owner resets the password', async () => {
    const { id, email, account, byPassword, byProvider, pending } = await unprovedWithProvider();
    await app.rest('POST', '/auth/send-reset-password-link-email', { email }).expect(204);
    const reset = { token: await tokenTo(email), password: NEW_PASSWORD };
    expect(await app.call(face, 'auth.resetPassword', reset)).toEqual(OK);
    expect((await logIn(account)).searchParams.get('error')).toBe('identity_not_found');
    for (const credentials of [byPassword, byProvider]) expect(await lives(id, credentials)).toBe(false);
    await expect(redeem(app, pending)).rejects.toThrow('401');
    const owner = await app.signIn(email, { password: NEW_PASSWORD });
    expect(await owner.rest('GET', `/identities/${id}`).expect(200)).toMatchObject({ emailVerified: true });
  });

  it('gives no access through a provider once its owner confirms it; sessions by password stay', async () => {
    const { id, email, account, admin, byPassword, byProvider, pending } = await unprovedWithProvider();
    await admin.rest('POST', `/auth/${id}/send-verification-email`).expect(204);
    expect(await app.call(face, 'auth.confirmEmail', { token: await tokenTo(email) })).toEqual(OK);
    expect((await logIn(account)).searchParams.get('error')).toBe('identity_not_found');
    expect(await lives(id, byProvider)).toBe(false);
    expect(await app.call(face, 'auth.refreshToken', { refreshToken: byProvider.refreshToken })).toMatchObject({ status: 422 });
    await expect(redeem(app, pending)).rejects.toThrow('401');
    expect(await lives(id, byPassword)).toBe(true);
  });

  it('gives no access once its owner accepts an invitation: all other sessions end', async () => {
    const { id, email, account, admin, byPassword, byProvider } = await unprovedWithProvider();
    await admin.rest('POST', '/invitations', { email }).expect(201);
    const accepting = await app.signIn(email);
    expect(await accepting.call(face, 'invitations.accept', { token: await tokenTo(email) })).toEqual(OK);
    expect((await logIn(account)).searchParams.get('error')).toBe('identity_not_found');
    for (const credentials of [byPassword, byProvider]) expect(await lives(id, credentials)).toBe(false);
    expect(await lives(id, accepting.credentials)).toBe(true);
    const shown = await accepting.rest('GET', `/auth/${id}/sessions`).expect<{ data: { isCurrent: boolean }[] }>(200);
    expect(shown.data).toMatchObject([{ isCurrent: true }]);
    await app.rest('POST', '/auth/token/refresh', { refreshToken: accepting.refreshToken }).expect(200);
  });

  it('that is proved already keeps its providers: at a reset, and at an invitation all sessions too', async () => {
    const ann = await app.signUp({ isVerified: true });
    const account = newOidcAccount();
    await linkTo(ann, account);
    const admin = await app.signUpAdmin();
    await admin.rest('POST', '/invitations', { email: ann.email }).expect(201);
    const token = (await app.mail.next(ann.email, ({ subject }) => subject === 'You are invited')).token ?? '';
    const accepting = await app.signIn(ann.email);
    expect(await accepting.call(face, 'invitations.accept', { token })).toEqual(OK);
    expect(await lives(ann.id, ann.credentials)).toBe(true);

    await app.rest('POST', '/auth/send-reset-password-link-email', { email: ann.email }).expect(204);
    const mail = await app.mail.next(ann.email, ({ subject }) => subject === 'Reset your password');
    expect(await app.call(face, 'auth.resetPassword', { token: mail.token, password: NEW_PASSWORD })).toEqual(OK);
    expect((await redeem(app, await logIn(account))).id).toBe(ann.id);
  });
});

describe.each(FACES)('a confirmed change of email over %s', (face) => {
  async function asked() {
    const ann = await app.signUp({ isVerified: true });
    const account = newOidcAccount();
    await linkTo(ann, account);
    const byProvider = await redeem(app, await logIn(account));
    const other = await app.signIn(ann.email);
    const email = newEmail();
    await ann.rest('PATCH', `/auth/${ann.id}/change-email`, { email, password: PASSWORD }).expect(204);
    return { ann, account, byProvider, other, email, token: await tokenTo(email) };
  }
  const confirm = (token: string, credentials: Credentials = {}) =>
    app.call(face, 'auth.confirmNewEmail', { token }, credentials);

  it('removes every provider, and ends all sessions but the one that confirms', async () => {
    const { ann, account, byProvider, other, token } = await asked();
    expect(await confirm(token, other.credentials)).toEqual(OK);
    expect(await linkedOf(ann)).toEqual([]);
    expect((await logIn(account)).searchParams.get('error')).toBe('identity_not_found');
    expect(await lives(ann.id, other.credentials)).toBe(true);
    for (const credentials of [ann.credentials, byProvider]) expect(await lives(ann.id, credentials)).toBe(false);
    // what ends all sessions ends that one too
    await other.rest('DELETE', `/auth/${ann.id}/refresh-tokens`).expect(204);
    expect(await lives(ann.id, other.credentials)).toBe(false);
  });

  it('knows the session by a token that has expired, and by the one of a session through a provider', async () => {
    const { ann, byProvider, other, token } = await asked();
    app.clock.advance(15 * MINUTE);
    expect(await confirm(token, byProvider)).toEqual(OK);
    const refresh = (refreshToken: string) => app.call(face, 'auth.refreshToken', { refreshToken });
    expect(await refresh(byProvider.refreshToken)).toMatchObject(OK);
    for (const { refreshToken } of [ann, other]) expect(await refresh(refreshToken)).toMatchObject({ status: 422 });
  });

  it('by nobody who is signed in as that person ends them all', async () => {
    for (const credentials of [{}, (await app.signUp()).credentials, { accessToken: 'unreadable' }]) {
      const { ann, byProvider, other, token } = await asked();
      expect(await confirm(token, credentials)).toEqual(OK);
      for (const session of [ann.credentials, other.credentials, byProvider]) expect(await lives(ann.id, session)).toBe(false);
    }
  });

  it('brings no session back that had ended', async () => {
    const { ann, other, token } = await asked();
    // its record stays, as where the removal has failed
    await app.storage.model(sessionModel).collection.updateMany({ identityId: ann.id }, { $set: { epoch: -1 } });
    expect(await confirm(token, other.credentials)).toEqual(OK);
    expect(await lives(ann.id, other.credentials)).toBe(false);
  });
});

it('a change of email that is confirmed in cookie mode spares the session of the cookies', async () => {
  const authModes = { auth: 'cookie', identities: 'cookie', notifications: 'cookie' } as const;
  await using server = await startTestServer({ authModes });
  const ann = await server.signUp();
  const other = await server.signIn(ann.email);
  const email = newEmail();
  await ann.rest('PATCH', `/auth/${ann.id}/change-email`, { email, password: PASSWORD }).expect(204);
  const { token } = await server.mail.next(email);
  // the access cookie has expired
  const headers = { cookie: `refreshToken=${ann.refreshToken}`, origin: server.url };
  await server.rest('POST', '/auth/confirm-new-email', { token }, { headers }).expect(204);
  await ann.rest('GET', `/identities/${ann.id}`).expect(200);
  await other.rest('GET', `/identities/${ann.id}`).expect(401);
});

describe.each(FACES)('unlinking over %s', (face) => {
  const FRESH = { ok: false, status: 403, message: 'A fresh proof is needed' };
  const unlink = (by: Person, of: { id: string }, more: object = {}) =>
    by.call(face, 'auth.unlinkProvider', { identityId: of.id, provider: 'acme', ...more });

  it('needs a sign-in within ten minutes, which a refresh does not prolong, or the password', async () => {
    const ann = await app.signUp({ isVerified: true });
    await linkTo(ann, newOidcAccount());
    app.clock.advance(10 * MINUTE);
    const { accessToken } = await app
      .rest('POST', '/auth/token/refresh', { refreshToken: ann.refreshToken })
      .expect<{ accessToken: string }>(200);
    const given = { identityId: ann.id, provider: 'acme' };
    expect(await app.call(face, 'auth.unlinkProvider', given, { accessToken })).toEqual(FRESH);
    // before it is said whether there is one
    expect(await unlink(ann, ann, { provider: 'other' })).toEqual(FRESH);
    expect(await unlink(ann, ann, { password: 'a wrong guess' })).toEqual({ ok: false, status: 400, message: 'Invalid input' });
    expect(await unlink(ann, ann, { password: PASSWORD })).toEqual(OK);
    await linkTo(ann, newOidcAccount());
    const fresh = await app.signIn(ann.email);
    app.clock.advance(9 * MINUTE);
    expect(await unlink(fresh, ann)).toEqual(OK);
  });

  it('counts wrong passwords as failed logins', async () => {
    const ann = await app.signUp({ isVerified: true });
    await linkTo(ann, newOidcAccount());
    for (let guess = 0; guess < 5; guess++)
      expect(await unlink(ann, ann, { password: `guess ${guess}` })).toMatchObject({ status: 400 });
    expect(await unlink(ann, ann, { password: PASSWORD })).toMatchObject({ status: 401, message: 'This account is locked' });
    expect(await linkedOf(ann)).toHaveLength(1);
  });

  it('by an admin of another takes no proof, of the admin’s own it does', async () => {
    const [ann, admin] = [await app.signUp({ isVerified: true }), await app.signUpAdmin()];
    for (const person of [ann, admin]) await linkTo(person, newOidcAccount());
    app.clock.advance(11 * MINUTE);
    expect(await unlink(admin, ann)).toEqual(OK);
    expect(await unlink(admin, admin)).toEqual(FRESH);
  });

  it('ends the sessions that came by it, also when it is linked again, and no others', async () => {
    const ann = await app.signUp({ isVerified: true });
    const account = newOidcAccount();
    await linkTo(ann, account);
    const byProvider = await redeem(app, await logIn(account));
    const pending = await logIn(account);
    expect(await unlink(ann, ann)).toEqual(OK);
    await linkTo(ann, account);
    expect(await lives(ann.id, byProvider)).toBe(false);
    expect(await lives(ann.id, ann.credentials)).toBe(true);
    await expect(redeem(app, pending)).rejects.toThrow(UNVERIFIED.message);
    expect(await lives(ann.id, await redeem(app, await logIn(account)))).toBe(true);
  });
});

it('a link that was begun before the address became unverified is refused at the return address', async () => {
  const ann = await app.signUp({ isVerified: true });
  const browser = createBrowser(app);
  const headers = { authorization: `Bearer ${ann.accessToken}` };
  const begun = await browser.send('POST', `${app.url}/auth/${ann.id}/oauth/acme`, { redirectUrl: RETURN_URL, password: PASSWORD }, headers); // prettier-ignore
  const callback = await idp.visit(browser, (begun.body as { url: string }).url, { account: newOidcAccount() });
  await (await app.signUpAdmin()).rest('PATCH', `/identities/${ann.id}`, { emailVerified: false }).expect(200);
  expect(await browser.goTo(callback)).toBe(`${RETURN_URL}?error=email_not_verified`);
  expect(await linkedOf(ann)).toEqual([]);
});

it('the mail that confirms an address says what to do when somebody else has registered it', async () => {
  const ann = await app.signUp();
  await ann.rest('POST', `/auth/${ann.id}/send-verification-email`).expect(204);
  const { text } = await app.mail.next(ann.email);
  expect(text).toContain('If it was not you who registered, do not confirm');
});
