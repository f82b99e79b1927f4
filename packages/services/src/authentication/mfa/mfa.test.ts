import {
  FACES,
  PASSWORD,
  TOO_MANY,
  UNVERIFIED,
  WRONG_TYPE,
  cookiesOf,
  fixture,
  startTestServer,
  type Face,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { identityModel } from '../../identities/identity.model.js';

const WRONG_CODE = { ok: false, status: 400, message: 'Invalid MFA code provided.' };
const LOCKED = { ok: false, status: 401, message: 'This account is locked' };

/** Two instances with MFA, and one without it, over which accounts are made. */
const app = fixture(() => startTestServer({ mfaEnabled: true }));
const second = fixture(() => startTestServer({ mfaEnabled: true }));
const plain = fixture(startTestServer);
const admin = fixture(() => plain.signUpAdmin());

interface Challenge {
  token: string;
  code: string;
}

/** The first step of a sign-in, and the code that came by mail. */
async function challenge(email: string, more: object = {}): Promise<Challenge> {
  const { token } = await app.rest('POST', '/auth/login', { email, password: PASSWORD, ...more }).expect<{ token: string }>(200);
  return { token, code: (await app.mail.next(email)).code ?? '' };
}
const verify = (face: Face, { token, code }: Challenge, on = app) => on.call(face, 'auth.mfaVerify', { token, code });
/** A code that is not this one. */
const other = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

describe.each(FACES)('MFA over %s', (face) => {
  it('answers a login with a challenge token only, and its code with the session', async () => {
    const ann = await plain.signUp();
    const first = await app.call(face, 'auth.login', { email: ann.email, password: PASSWORD });
    expect(first).toEqual({ ok: true, value: { token: expect.any(String) as string } });
    const { token } = (first as { value: { token: string } }).value;
    const { code = '', text } = await app.mail.next(ann.email);
    expect(code).toMatch(/^\d{6}$/);
    expect(text).not.toContain(token);

    const done = await verify(face, { token, code });
    expect(done).toMatchObject({ ok: true, value: { id: ann.id } });
    const { accessToken } = (done as { value: { accessToken: string } }).value;
    expect(await app.call(face, 'identities.get', { identityId: ann.id }, { accessToken })).toMatchObject({ ok: true });
    expect(await verify(face, { token, code })).toEqual(UNVERIFIED);
  });

  it('sends no code without the right password', async () => {
    const ann = await plain.signUp();
    expect(await app.call(face, 'auth.login', { email: ann.email, password: 'wrong' })).toMatchObject({ status: 401 });
    await app.tandem.services.mails.work();
    expect(app.mail.count(ann.email)).toBe(0);
  });

  it('gives one session per code, even if many requests on two instances try it at once', async () => {
    const ann = await plain.signUp();
    const given = await challenge(ann.email);
    const outcomes = await Promise.all(Array.from({ length: 4 }, (_, at) => verify(face, given, at % 2 ? app : second)));
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    for (const refused of outcomes.filter(({ ok }) => !ok)) expect(refused).toEqual(UNVERIFIED);
  });

  it('accepts a right code after wrong ones, as long as attempts are left', async () => {
    const ann = await plain.signUp();
    const given = await challenge(ann.email);
    for (let guess = 0; guess < 4; guess++) expect(await verify(face, { ...given, code: other(given.code) })).toEqual(WRONG_CODE);
    expect(await verify(face, given)).toMatchObject({ ok: true });
  });

  it('counts wrong codes toward the lock of the account, which a right password does not reset', async () => {
    const ann = await plain.signUp();
    for (let round = 0; round < 5; round++) {
      const given = await challenge(ann.email);
      expect(await verify(face, { ...given, code: other(given.code) })).toEqual(WRONG_CODE);
    }
    expect(await app.call(face, 'auth.login', { email: ann.email, password: PASSWORD })).toEqual(LOCKED);
    app.clock.advance(60_000);
    const given = await challenge(ann.email);
    expect(await verify(face, given)).toMatchObject({ ok: true });
  });

  it('ends a challenge after five minutes', async () => {
    const ann = await plain.signUp();
    const given = await challenge(ann.email);
    app.clock.advance(5 * 60_000);
    expect(await verify(face, given)).toEqual(UNVERIFIED);
    expect(await app.call(face, 'auth.mfaResend', { token: given.token })).toEqual(UNVERIFIED);
  });

  it('sends another code after half a minute, at most five times; only the newest is valid', async () => {
    const ann = await plain.signUp();
    let given = await challenge(ann.email);
    const resend = () => app.call(face, 'auth.mfaResend', { token: given.token });
    expect(await resend()).toEqual(TOO_MANY);
    const codes = [given.code];
    for (let time = 0; time < 5; time++) {
      app.clock.advance(30_000);
      const outcome = await resend();
      expect(outcome).toEqual({ ok: true, value: { token: expect.any(String) as string } });
      given = { ...(outcome as { value: { token: string } }).value, code: (await app.mail.next(ann.email)).code ?? '' };
      codes.push(given.code);
    }
    app.clock.advance(30_000);
    expect(await resend()).toEqual(TOO_MANY);
    expect(new Set(codes).size).toBeGreaterThan(1);
    const old = codes.find((code) => code !== given.code) ?? '';
    expect(await verify(face, { ...given, code: old })).toEqual(WRONG_CODE);
    expect(await verify(face, given)).toMatchObject({ ok: true });
  });

  it('sends one code for many concurrent requests', async () => {
    const ann = await plain.signUp();
    const { token } = await challenge(ann.email);
    app.clock.advance(30_000);
    second.clock.advance(app.clock.now().getTime() - second.clock.now().getTime());
    const all = Array.from({ length: 10 }, (_, at) => (at % 2 ? app : second).call(face, 'auth.mfaResend', { token }));
    expect((await Promise.all(all)).filter(({ ok }) => ok)).toHaveLength(1);
    await app.mail.next(ann.email);
  });

  it('is required for a sign-in by one-time token too', async () => {
    const ann = await plain.signUp();
    const { token: onetime } = await app.tandem.services.onetimeTokens.create({ identityId: ann.id, target: 'login' });
    const first = await app.call(face, 'auth.ottLogin', { token: onetime, fingerprint: 'device 1' });
    expect(first).toEqual({ ok: true, value: { token: expect.any(String) as string } });
    const { token } = (first as { value: { token: string } }).value;
    const { code = '' } = await app.mail.next(ann.email);
    expect(await verify(face, { token, code })).toMatchObject({ ok: true, value: { id: ann.id } });
  });

  it('binds the session to the fingerprint of the first step, and refuses another at the second', async () => {
    const ann = await plain.signUp();
    const given = await challenge(ann.email, { fingerprint: 'device 1' });
    expect(await app.call(face, 'auth.mfaVerify', { ...given }, { fingerprint: 'device 2' })).toEqual({
      ok: false,
      status: 401,
      message: 'Token fails security check',
    });
    const done = await verify(face, given);
    const { accessToken } = (done as { value: { accessToken: string } }).value;
    const get = (fingerprint?: string) => app.call(face, 'identities.get', { identityId: ann.id }, { accessToken, fingerprint });
    expect(await get('device 1')).toMatchObject({ ok: true });
    expect(await get()).toMatchObject({ status: 401, message: 'Token fails security check' });
  });

  it('accepts only the token of a challenge, which has no other use', async () => {
    const ann = await plain.signUp();
    const given = await challenge(ann.email);
    const { token: login } = await app.tandem.services.onetimeTokens.create({ identityId: ann.id, target: 'login' });
    for (const token of [login, ann.accessToken, ann.refreshToken]) {
      expect(await verify(face, { token, code: given.code })).toEqual(WRONG_TYPE);
      expect(await app.call(face, 'auth.mfaResend', { token })).toEqual(WRONG_TYPE);
    }
    expect(await app.call(face, 'auth.ottLogin', { token: given.token })).toEqual(WRONG_TYPE);
    expect(await app.call(face, 'identities.get', { identityId: ann.id }, { accessToken: given.token })).toEqual(WRONG_TYPE);
    expect(await app.call(face, 'auth.mfaVerify', { token: given.token, code: Number(given.code) })).toMatchObject({
      status: 400,
    });
    expect(await verify(face, given)).toMatchObject({ ok: true });
  });

  it('ends with the account: a lock voids the challenge', async () => {
    const ann = await plain.signUp();
    const given = await challenge(ann.email);
    await admin.rest('POST', `/identities/${ann.id}/lock`).expect(204);
    expect(await verify(face, given)).toEqual(UNVERIFIED);
    await admin.rest('POST', `/identities/${ann.id}/unlock`).expect(204);
    expect(await verify(face, given)).toEqual(UNVERIFIED);
  });
});

describe('MFA in cookie mode', () => {
  it('sets the cookies at the second step, and none at the first', async () => {
    await using cookies = await startTestServer({ mfaEnabled: true, authModes: { default: 'cookie' } });
    const ann = await plain.signUp();
    const first = await cookies.rest('POST', '/auth/login', { email: ann.email, password: PASSWORD });
    expect([first.status, cookiesOf(first)]).toEqual([200, {}]);
    const { token } = first.body as { token: string };
    const { code } = await cookies.mail.next(ann.email);
    const done = await cookies.rest('POST', '/auth/mfa/verify', { token, code });
    expect(done.body).toEqual({ id: ann.id });
    expect(Object.keys(cookiesOf(done)).sort()).toEqual(['accessToken', 'refreshToken']);
  });
});

describe('MFA codes', () => {
  it('are never stored, nor is anything they or the challenge token could be derived from', async () => {
    const ann = await plain.signUp();
    app.mail.refuse(451);
    const { token } = await app
      .rest('POST', '/auth/login', { email: ann.email, password: PASSWORD })
      .expect<{ token: string }>(200);
    await app.tandem.services.mails.work();
    const stored = JSON.stringify(await Promise.all(['onetimeTokens', 'mails'].map((name) => app.storage.model(identityModel).db.collection(name).find().toArray()))); // prettier-ignore
    app.mail.refuse(false);
    app.clock.advance(30_000);
    await app.tandem.services.mails.work();
    const { code = 'none' } = await app.mail.next(ann.email);
    expect(stored).toContain('mfa-code');
    expect(stored).not.toContain(code);
    expect(stored).not.toContain(token);
  });
});
