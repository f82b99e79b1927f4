import { FACES, PASSWORD, fixture, startTestServer, type Face, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const WRONG = 'wrong credentials provided';
const WRONG_OF_SESSION = 'Invalid input';
const LOCKED = 'This account is locked';
const MINUTE = 60_000;
/** What a busy machine may take between two attempts. */
const MARGIN_MS = 20_000;

/** Two instances behind a proxy, which says where a request comes from. */
const app = fixture(() => startTestServer({ trustProxy: true }));
const second = fixture(() => startTestServer({ trustProxy: true, clock: app.clock }));

const instance = (n: number) => (n % 2 === 0 ? app : second);
const from = (n: number) => ({ headers: { 'x-forwarded-for': `203.0.113.${n}` } });
const count = (list: string[], text: string) => list.filter((one) => one === text).length;
async function attempt(face: Face, n: number, email: string, password: string): Promise<string> {
  const outcome = await instance(n).call(face, 'auth.login', { email, password }, from(n));
  return outcome.ok ? 'ok' : outcome.message;
}

describe.each(FACES)('over %s', (face) => {
  it('one password tried on many accounts counts for each of them alone, known or not', async () => {
    const people = await Promise.all(Array.from({ length: 12 }, () => app.signUp()));
    const emails = people.flatMap(({ email }) => [email, `nobody-${email}`]);
    for (let round = 0; round < 4; round++) {
      const said = await Promise.all(emails.map((email, n) => attempt(face, n, email, `spring ${round}`)));
      expect(count(said, WRONG)).toBe(emails.length);
    }
    expect(count(await Promise.all(people.map(({ email }, n) => attempt(face, n, email, PASSWORD))), 'ok')).toBe(people.length);
  });

  it.each(['known', 'unknown'])(
    'many passwords on one address that is %s, from many places and over two instances at once: five a wait are compared',
    async (kind) => {
      const email = kind === 'known' ? (await app.signUp()).email : `${crypto.randomUUID()}@example.org`;
      for (const minutes of [1, 5, 15, 60, 60]) {
        const said = await Promise.all(Array.from({ length: 30 }, (_, n) => attempt(face, n, email, `guess ${n}`)));
        expect([count(said, WRONG), count(said, LOCKED)]).toEqual([5, 25]);
        for (const n of [0, 1]) expect(await attempt(face, n, email, PASSWORD)).toBe(LOCKED);
        app.clock.advance(minutes * MINUTE - MARGIN_MS);
        for (const n of [0, 1]) expect(await attempt(face, n, email, PASSWORD)).toBe(LOCKED);
        app.clock.advance(MARGIN_MS);
      }
      expect(await attempt(face, 0, email, PASSWORD)).toBe(kind === 'known' ? 'ok' : WRONG);
    },
  );

  it('a stolen session cannot guess the password elsewhere: all procedures count together', async () => {
    const ann = await app.signUp();
    const guess = (n: number, procedure: string, input: object) =>
      instance(n).call(face, procedure, { identityId: ann.id, ...input }, { ...ann.credentials, ...from(n) });
    const doors: ((n: number) => Promise<string>)[] = [
      (n) => attempt(face, n, ann.email, `guess ${n}`),
      async (n) =>
        messageOf(await guess(n, 'auth.changePassword', { password: `guess ${n}`, newPassword: 'another one of hers' })),
      async (n) => messageOf(await guess(n, 'auth.changeEmail', { password: `guess ${n}`, email: `new-${ann.email}` })),
    ];
    const said = await Promise.all(Array.from({ length: 30 }, (_, n) => (doors[n % 3] as (typeof doors)[number])(n)));
    expect([count(said, WRONG) + count(said, WRONG_OF_SESSION), count(said, LOCKED)]).toEqual([5, 25]);
    for (const [at, door] of doors.entries()) expect(await door(at)).toBe(LOCKED);
    // and what the session may do without the password it still may
    expect(await ann.call(face, 'identities.get', { identityId: ann.id })).toMatchObject({ ok: true });
  });

  it('a right password in another procedure does not clear failed guesses', async () => {
    const ann = await app.signUp();
    const change = (password: string, newEmail: string) =>
      ann.call(face, 'auth.changeEmail', { identityId: ann.id, password, email: newEmail });
    for (let n = 0; n < 4; n++) expect(await attempt(face, n, ann.email, `guess ${n}`)).toBe(WRONG);
    expect(await change(PASSWORD, `new-${ann.email}`)).toEqual({ ok: true });
    expect(await attempt(face, 0, ann.email, 'the fifth guess')).toBe(WRONG);
    expect(await attempt(face, 0, ann.email, PASSWORD)).toBe(LOCKED);
  });

  it('a lock of an address affects neither its sessions nor a requested link', async () => {
    const ann: Person = await app.signUp();
    const { token } = await app.tandem.services.onetimeTokens.create({ identityId: ann.id, target: 'login' });
    for (let n = 0; n < 5; n++) await attempt(face, n, ann.email, `guess ${n}`);
    expect(await attempt(face, 0, ann.email, PASSWORD)).toBe(LOCKED);
    expect(await app.call(face, 'auth.refreshToken', { refreshToken: ann.refreshToken })).toMatchObject({ ok: true });
    expect(await app.call(face, 'auth.ottLogin', { token })).toMatchObject({ ok: true });
    expect(await app.call(face, 'auth.sendResetPasswordLinkEmail', { email: ann.email })).toEqual({ ok: true });
    const { token: reset } = await app.mail.next(ann.email);
    expect(await app.call(face, 'auth.resetPassword', { token: reset, password: 'another one of hers' })).toEqual({ ok: true });
    expect(await attempt(face, 0, ann.email, 'another one of hers')).toBe('ok');
  });
});

function messageOf(outcome: { ok: true } | { ok: false; message: string }): string {
  return outcome.ok ? 'ok' : outcome.message;
}
