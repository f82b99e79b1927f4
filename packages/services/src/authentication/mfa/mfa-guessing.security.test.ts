import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { FACES, PASSWORD, startTestServer, type Face, type Outcome, type Person, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createMfaCodes } from './mfa-codes.js';

const UNVERIFIED = 'token could not be verified';
const WRONG_CODE = 'Invalid MFA code provided.';
const LOCKED = 'This account is locked';
const MINUTE = 60_000;
/** What a busy machine may take between two attempts. */
const MARGIN_MS = 20_000;

/** Two instances with MFA over one clock, and one without it, over which accounts are made and changed. */
let app: TestServer;
let second: TestServer;
let plain: TestServer;
let adminEmail: string;
beforeAll(async () => {
  plain = await startTestServer();
  [app, second] = (await Promise.all([1, 2].map(() => startTestServer({ mfaEnabled: true, clock: plain.clock })))) as [
    TestServer,
    TestServer,
  ];
  adminEmail = (await plain.signUpAdmin()).email;
});
afterAll(() => Promise.all([app.close(), second.close(), plain.close()]));

/** Anew: the clock has been moved past the life of an access token. */
const signInAdmin = () => plain.signIn(adminEmail);

interface Challenge {
  token: string;
  code: string;
}
/** The first step with the right password, and the code that came by mail. */
async function challenge({ email }: { email: string }): Promise<Challenge> {
  const { token } = await app.rest('POST', '/auth/login', { email, password: PASSWORD }).expect<{ token: string }>(200);
  return { token, code: (await app.mail.next(email)).code ?? '' };
}
const said = (outcome: Outcome) => (outcome.ok ? 'ok' : outcome.message);
const verify = async (face: Face, { token, code }: Challenge, on = app) =>
  said(await on.call(face, 'auth.mfaVerify', { token, code }));
/** A code that is not this one. */
const not = (code: string, n = 1) => String((Number(code) + n) % 1_000_000).padStart(6, '0');
const count = (list: string[], text: string) => list.filter((one) => one === text).length;
const instance = (n: number) => (n % 2 === 0 ? app : second);

describe.each(FACES)('guessing MFA codes over %s', (face) => {
  it('many at once on two instances: five are compared, and the right one after them is not', async () => {
    const ann = await plain.signUp();
    const given = await challenge(ann);
    const guesses = [...Array.from({ length: 39 }, (_, n) => not(given.code, n + 1)), given.code];
    const all = await Promise.all(guesses.map((code, n) => verify(face, { ...given, code }, instance(n))));
    expect([count(all, WRONG_CODE), count(all, LOCKED) + count(all, UNVERIFIED)]).toEqual([5, 35]);
    // the challenge is spent even when the wait is over
    app.clock.advance(MINUTE);
    expect(await verify(face, given)).toBe(UNVERIFIED);
  });

  it('over many challenges at once on two instances: five are compared, not five a challenge', async () => {
    const ann = await plain.signUp();
    const challenges: Challenge[] = [];
    for (let n = 0; n < 6; n++) challenges.push(await challenge(ann));
    const guesses = challenges.flatMap((given) => [1, 2, 3, 4].map((n) => ({ ...given, code: not(given.code, n) })));
    const all = await Promise.all(guesses.map((guess, n) => verify(face, guess, instance(n))));
    expect([count(all, WRONG_CODE), count(all, LOCKED)]).toEqual([5, 19]);
    // the wait is the account's: neither an untouched challenge nor the password gets past it
    for (const given of challenges) expect(await verify(face, given, second)).toBe(LOCKED);
    expect(said(await second.call(face, 'auth.login', { email: ann.email, password: PASSWORD }))).toBe(LOCKED);
  });

  it('with the right password before each guess: the locks still grow, 1, 5, 15, 60 minutes', async () => {
    const ann = await plain.signUp();
    for (const minutes of [1, 5, 15, 60]) {
      let last: Challenge = { token: '', code: '' };
      for (let n = 0; n < 5; n++) {
        last = await challenge(ann);
        expect(await verify(face, { ...last, code: not(last.code) }, instance(n))).toBe(WRONG_CODE);
      }
      expect(await verify(face, last)).toBe(LOCKED);
      app.clock.advance(minutes * MINUTE - MARGIN_MS);
      expect(said(await app.call(face, 'auth.login', { email: ann.email, password: PASSWORD }))).toBe(LOCKED);
      app.clock.advance(MARGIN_MS);
    }
    expect(await verify(face, await challenge(ann))).toBe('ok');
    // only the second step has made it forgotten
    const next = await challenge(ann);
    for (let n = 0; n < 4; n++) expect(await verify(face, { ...next, code: not(next.code) })).toBe(WRONG_CODE);
    expect(await verify(face, next)).toBe('ok');
  });

  it('with a new code requested in between: a challenge has five attempts in all, even if the account was unlocked', async () => {
    const ann = await plain.signUp();
    let given = await challenge(ann);
    for (let n = 0; n < 3; n++) expect(await verify(face, { ...given, code: not(given.code) })).toBe(WRONG_CODE);
    await (await signInAdmin()).rest('POST', `/identities/${ann.id}/unlock`).expect(204);
    app.clock.advance(30_000);
    const resent = await app.call(face, 'auth.mfaResend', { token: given.token });
    given = { ...(resent as { value: { token: string } }).value, code: (await app.mail.next(ann.email)).code ?? '' };
    for (let n = 0; n < 2; n++) expect(await verify(face, { ...given, code: not(given.code) })).toBe(WRONG_CODE);
    expect(await verify(face, given)).toBe(UNVERIFIED);
    app.clock.advance(30_000);
    expect(said(await app.call(face, 'auth.mfaResend', { token: given.token }))).toBe(UNVERIFIED);
  });

  it('with the code of another challenge, one’s own or another identity’s', async () => {
    const [ann, bob] = [await plain.signUp(), await plain.signUp()];
    const [first, next, others] = [await challenge(ann), await challenge(ann), await challenge(bob)];
    for (const { code } of [first, others].filter((one) => one.code !== next.code))
      expect(await verify(face, { ...next, code })).toBe(WRONG_CODE);
    for (const given of [first, next, others]) expect(await verify(face, given)).toBe('ok');
  });

  it('with text that only looks like the code', async () => {
    const ann = await plain.signUp();
    const given = await challenge(ann);
    const arabic = given.code.replace(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit)));
    for (const code of [` ${given.code}`, `${given.code}0`, arabic, `${given.code}\u0000`])
      expect(await verify(face, { ...given, code })).toBe(WRONG_CODE);
    for (const code of ['', given.code.repeat(4), Number(given.code), [given.code], { $ne: null }])
      expect(await app.call(face, 'auth.mfaVerify', { token: given.token, code })).toMatchObject({ message: 'Validation Error' });
    expect(await verify(face, given)).toBe('ok');
  });

  it.each<[string, (person: Person) => Promise<unknown>]>([
    ['a password change', (person) => person.rest('PATCH', `/auth/${person.id}/change-password`, { password: PASSWORD, newPassword: 'another password of hers' }).expect(204)], // prettier-ignore
    [
      'a password reset',
      async (person) => {
        const { token } = await plain.tandem.services.onetimeTokens.create({ identityId: person.id, target: 'reset-password', email: person.email }); // prettier-ignore
        await plain.rest('POST', '/auth/reset-password', { token, password: 'another password of hers' }).expect(204);
      },
    ],
    [
      'an email change',
      async (person) => {
        const { token } = await plain.tandem.services.onetimeTokens.create({ identityId: person.id, target: 'change-email', email: `new-${person.email}` }); // prettier-ignore
        await plain.rest('POST', '/auth/confirm-new-email', { token }).expect(204);
      },
    ],
    [
      'a deactivation that was taken back',
      async ({ id }) => {
        const admin = await signInAdmin();
        await admin.rest('POST', '/auth/deactivate', { identityId: id }).expect(204);
        await admin.rest('POST', '/auth/activate', { identityId: id }).expect(204);
      },
    ],
  ])('is of no use after %s: the challenge is void, and so is a code that is asked for anew', async (_, change) => {
    const ann = await plain.signUp();
    const given = await challenge(ann);
    await change(ann);
    app.clock.advance(30_000);
    expect(await verify(face, given)).toBe(UNVERIFIED);
    expect(said(await app.call(face, 'auth.mfaResend', { token: given.token }))).toBe(UNVERIFIED);
  });
});

describe('a code', () => {
  const [old, present] = ['o'.repeat(32), 'p'.repeat(32)];

  it('is compared in constant time, with those of all secrets, whichever matches', () => {
    const codes = createMfaCodes([present, old]);
    const compare = vi.spyOn(crypto, 'timingSafeEqual');
    syncBuiltinESMExports();
    try {
      for (const code of [
        codes.make('challenge', 1),
        createMfaCodes([old]).make('challenge', 1),
        '000000',
        '1',
        '1'.repeat(20),
      ]) {
        compare.mockClear();
        codes.isRight(code, 'challenge', 1);
        expect(compare).toHaveBeenCalledTimes(2);
      }
    } finally {
      compare.mockRestore();
      syncBuiltinESMExports();
    }
  });

  it('belongs to one challenge, one mail and one secret, and stays valid through a rotation', () => {
    const codes = createMfaCodes([present]);
    const all = ['a', 'b'].flatMap((challengeId) => [1, 2, 11].map((send) => codes.make(challengeId, send)));
    expect(new Set([...all, createMfaCodes([old]).make('a', 1)]).size).toBe(7);
    const rotated = createMfaCodes([present, old]);
    expect(rotated.isRight(createMfaCodes([old]).make('a', 1), 'a', 1)).toBe(true);
    expect(createMfaCodes([old]).isRight(rotated.make('a', 1), 'a', 1)).toBe(false);
  });
});
