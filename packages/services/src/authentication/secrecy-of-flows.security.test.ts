import {
  FACES,
  NEW_PASSWORD,
  PASSWORD,
  answerListeners,
  sendRequest,
  startTestServer,
  type Credentials,
  type Face,
  type Person,
  type TestServer,
  type TextAnswer,
} from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identityModel } from '../identities/identity.model.js';

const WRONG_PASSWORD = 'a wrong guess at a password';
const FINGERPRINT = 'the fingerprint of some device';
const DOMAIN = '@people.example.org';

/** Errors with stacks, logs with everything. */
const TALKATIVE = { development: true, logLevel: 'trace' } as const;
let app: TestServer;
let withMfa: TestServer;
let admin: Person;

/** Bodies of refusals, and every token that was handed out. */
const refused: { url: string; text: string }[] = [];
const tokens = new Set<string>();
function note({ url, status, text }: TextAnswer): void {
  if (status >= 400) refused.push({ url, text });
  for (const [token] of text.matchAll(/eyJ[\w-]+\.[\w.-]{40,}/g)) tokens.add(token);
}
beforeAll(async () => {
  answerListeners.add(note);
  [app, withMfa] = await Promise.all([startTestServer(TALKATIVE), startTestServer({ ...TALKATIVE, mfaEnabled: true })]);
  admin = await app.signUpAdmin();
});
afterAll(async () => {
  answerListeners.delete(note);
  await Promise.all([app.close(), withMfa.close()]);
});

const newEmail = () => `${crypto.randomUUID()}${DOMAIN}`;
async function call(face: Face, procedure: string, input: object, credentials: Credentials = {}, on = app) {
  const outcome = await on.call(face, procedure, { ...input }, credentials);
  return (outcome.ok ? outcome.value : undefined) as Record<string, string> | undefined;
}
const signIn = async (face: Face, email: string, password: string) =>
  (await call(face, 'auth.login', { email, password, fingerprint: FINGERPRINT })) ?? {};
const linkTo = async (email: string) => (await app.mail.next(email, ({ token }) => token !== undefined)).token ?? '';

/** Accounts from registration to deletion, each step with what goes wrong in it. */
async function live(face: Face): Promise<void> {
  const [email, next] = [newEmail(), newEmail()];
  const given = { email, password: PASSWORD };
  for (let times = 0; times < 2; times++) await call(face, 'auth.register', given);
  await Promise.all([1, 2, 3].map(() => call(face, 'auth.register', { email: newEmail(), password: email })));
  await Promise.all([1, 2, 3, 4].map(() => call(face, 'auth.register', { ...given, email: `same-${email}` })));
  await call(face, 'auth.login', { email, password: WRONG_PASSWORD });
  const { id: identityId = '', accessToken = '', refreshToken = '' } = await signIn(face, email, PASSWORD);
  const mine = { accessToken, fingerprint: FINGERPRINT };

  // the mail server refuses, and names whom
  app.mail.refuse(550);
  await call(face, 'auth.sendVerificationEmail', { identityId }, mine);
  await call(face, 'auth.sendResetPasswordLinkEmail', { email });
  await app.tandem.services.mails.work();
  app.mail.refuse(false);

  app.clock.advance(60_000);
  await call(face, 'auth.sendVerificationEmail', { identityId }, mine);
  const verification = await linkTo(email);
  for (let times = 0; times < 2; times++) await call(face, 'auth.confirmEmail', { token: verification });
  await call(face, 'auth.changeEmail', { identityId, email: next, password: WRONG_PASSWORD }, mine);
  await call(face, 'auth.changeEmail', { identityId, email: admin.email, password: PASSWORD }, mine);
  await call(face, 'auth.changeEmail', { identityId, email: next, password: PASSWORD }, mine);
  const change = await linkTo(next);
  for (const procedure of ['auth.confirmEmail', 'auth.ottLogin', 'auth.resetPassword', 'auth.mfaVerify'])
    await call(face, procedure, { token: change, ...(procedure === 'auth.resetPassword' && { password: NEW_PASSWORD }), ...(procedure === 'auth.mfaVerify' && { code: '123456' }) }); // prettier-ignore
  for (let times = 0; times < 2; times++) await call(face, 'auth.confirmNewEmail', { token: change }, mine);
  await call(face, 'auth.changePassword', { identityId, password: WRONG_PASSWORD, newPassword: NEW_PASSWORD }, mine);
  await call(face, 'auth.changePassword', { identityId, password: PASSWORD, newPassword: next }, mine);
  await call(face, 'auth.changePassword', { identityId, password: PASSWORD, newPassword: NEW_PASSWORD }, mine);
  await call(face, 'auth.sendResetPasswordLinkEmail', { email: next });
  const reset = await linkTo(next);
  for (const password of [NEW_PASSWORD, PASSWORD, PASSWORD]) await call(face, 'auth.resetPassword', { token: reset, password });

  await call(face, 'auth.refreshToken', { refreshToken }, { fingerprint: FINGERPRINT });
  const session = await signIn(face, next, PASSWORD);
  await call(face, 'auth.refreshToken', { refreshToken: session.refreshToken ?? '' }, { fingerprint: FINGERPRINT });
  app.clock.advance(11_000);
  await call(face, 'auth.refreshToken', { refreshToken: session.refreshToken ?? '' }, { fingerprint: FINGERPRINT });

  const { onetimeToken = '' } =
    (await call(face, 'auth.ottGenerate', { identityId, data: { plan: 'spring' } }, admin.credentials)) ?? {};
  await call(face, 'auth.checkToken', { token: onetimeToken, target: 'reset-password' });
  await call(face, 'auth.ottInvalidate', { token: onetimeToken }, admin.credentials);
  await call(face, 'auth.ottLogin', { token: onetimeToken });
  await call(face, 'auth.ottRestore', { token: onetimeToken }, admin.credentials);
  for (let times = 0; times < 2; times++) await call(face, 'auth.ottLogin', { token: onetimeToken, fingerprint: FINGERPRINT });
  await call(face, 'auth.ottRestore', { token: onetimeToken }, admin.credentials);

  const invited = newEmail();
  for (let times = 0; times < 2; times++) await call(face, 'invitations.create', { email: invited }, admin.credentials);
  const invitation = await linkTo(invited);
  for (let times = 0; times < 2; times++) await call(face, 'auth.register', { token: invitation, password: PASSWORD });

  await call(face, 'identities.patch', { identityId, email: admin.email }, admin.credentials);
  await call(face, 'identities.lock', { identityId }, admin.credentials);
  await signIn(face, next, PASSWORD);
  await call(face, 'identities.unlock', { identityId }, admin.credentials);
  for (let times = 0; times < 6; times++) await call(face, 'auth.login', { email: next, password: WRONG_PASSWORD });
  await call(face, 'identities.delete', { identityId }, admin.credentials);
  await call(face, 'auth.register', { email: next, password: NEW_PASSWORD });
  await call(face, 'identities.restore', { identityId }, admin.credentials);
}

/** Both steps of a sign-in with a code, with wrong ones in between. */
async function liveWithMfa(face: Face): Promise<void> {
  const email = newEmail();
  await call(face, 'auth.register', { email, password: PASSWORD });
  const { token = '' } = (await call(face, 'auth.login', { email, password: PASSWORD }, {}, withMfa)) ?? {};
  const { code = '' } = await app.mail.next(email);
  await call(face, 'auth.mfaResend', { token }, {}, withMfa);
  await call(face, 'auth.mfaVerify', { token, code: 'no code' }, {}, withMfa);
  await call(face, 'auth.mfaVerify', { token, code }, { fingerprint: FINGERPRINT }, withMfa);
  for (let times = 0; times < 2; times++) await call(face, 'auth.mfaVerify', { token, code }, {}, withMfa);
}

/** What no procedure gets to see, with secrets in it. */
async function sendUnreadable(path: string): Promise<void> {
  const secrets = `"password":"${PASSWORD}","token":"${[...tokens][0] ?? ''}"`;
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${[...tokens][1] ?? ''}x` };
  const bodies = [`{${secrets}`, `{${secrets}}}`, `{"password":${PASSWORD}}`, PASSWORD, `{"password":"${PASSWORD}\n"}`, `{${secrets},"x":"${'x'.repeat(1_100_000)}"}`]; // prettier-ignore
  for (const body of bodies) await sendRequest(app.url + path, { method: 'POST', headers, body });
  await sendRequest(app.url + path, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: `{${secrets}}` });
  await sendRequest(`${app.url}${path}?token=${[...tokens][0] ?? ''}&password=${PASSWORD}`, { method: 'POST' });
}

/** Everything in the store, by collection. */
async function dump(): Promise<Record<string, string>> {
  const { db } = app.storage.model(identityModel);
  const names = (await db.listCollections()).map(({ name }) => name);
  const texts = names.map(async (name) => [name, JSON.stringify(await db.collection(name).find().toArray())] as const);
  return Object.fromEntries(await Promise.all(texts));
}

const passwords = [PASSWORD, NEW_PASSWORD, WRONG_PASSWORD];
/** Codes as words of their own: six digits are part of many a number. */
const codes = () =>
  app.mail.mails.flatMap(({ code }) => (code === undefined ? [] : [new RegExp(`(?<![\\w.-])${code}(?![\\w.-])`)]));
const allTokens = () => [...tokens, ...app.mail.mails.flatMap(({ token }) => token ?? [])];

describe.each(FACES)('after all flows over %s, whatever went wrong in them, in development too,', (face) => {
  beforeAll(async () => {
    await live(face);
    await liveWithMfa(face);
    for (const path of face === 'rest' ? ['/auth/login', '/auth/reset-password'] : ['/trpc/auth.login'])
      await sendUnreadable(path);
    await Promise.all([app, withMfa].map((server) => server.tandem.services.audit.settle()));
  }, 60_000);

  it('no refusal has a password, a token, a code, a hash or an address, but for the one that registration names', () => {
    expect([tokens.size > 8, codes().length > 0, refused.length > 30]).toEqual([true, true, true]);
    expect(refused.some(({ text }) => text.includes('"stack"'))).toBe(true);
    for (const { url, text } of refused) {
      for (const secret of [...passwords, ...allTokens(), '$2b$', FINGERPRINT])
        expect(text.includes(secret), `${url} answers ${secret.slice(0, 40)}: ${text}`).toBe(false);
      for (const code of codes()) expect(text, url).not.toMatch(code);
      expect(text.replace(/unable to register \\+"[^"]+"/g, ''), url).not.toContain(DOMAIN);
      expect(text, url).not.toContain(admin.email);
    }
  });

  it('no log line has any of them', () => {
    const logs = app.logs() + withMfa.logs();
    for (const event of [
      'a mail was not sent',
      'login.locked',
      'refresh.reused',
      'onetime.used',
      'invitation.accepted',
      'mfa.failed',
    ])
      expect(logs).toContain(event);
    for (const secret of [...passwords, ...allTokens(), '$2b$', FINGERPRINT, DOMAIN, admin.email])
      expect(logs.includes(secret), `the log has ${secret.slice(0, 40)}`).toBe(false);
    for (const token of allTokens()) expect(logs.includes(token.slice(-40)), 'the log has a piece of a token').toBe(false);
    for (const code of codes()) expect(logs).not.toMatch(code);
  });

  it('no collection has a password, a token or a code; hashes are with the identities, and addresses where they are needed', async () => {
    const collections = await dump();
    expect(Object.keys(collections)).toEqual(
      expect.arrayContaining(['identities', 'sessions', 'onetimeTokens', 'mails', 'securityEvents']),
    );
    for (const [name, text] of Object.entries(collections)) {
      for (const secret of [...passwords, ...allTokens(), FINGERPRINT])
        expect(text.includes(secret), `${name} has ${secret.slice(0, 40)}`).toBe(false);
      for (const code of codes()) expect(text, name).not.toMatch(code);
      expect(text.includes('$2b$'), `${name} has a hash`).toBe(name === 'identities');
      const withAddresses = ['identities', 'mails', 'onetimeTokens', 'invitations', 'events'];
      expect(!text.includes('@') || withAddresses.includes(name), name).toBe(true);
    }
  });
});
