import { createHash } from 'node:crypto';
import { FACES, PASSWORD, fixture, startTestServer, type Face } from '@tandem/testing';
import bcrypt from 'bcrypt';
import { describe, expect, it, vi } from 'vitest';
import { bcryptThreads } from '../passwords/bcrypt-threads.js';
import { failedLoginModel } from './failed-login.model.js';

const WRONG = 'wrong credentials provided';
const LOCKED = 'This account is locked';
const MINUTE = 60_000;
/** What a busy machine may take between two attempts. */
const MARGIN_MS = 20_000;

const app = fixture(startTestServer);

/** What a login says; `ok` when it succeeds. */
async function attempt(face: Face, email: string, password = PASSWORD, server = app): Promise<string> {
  const outcome = await server.call(face, 'auth.login', { email, password });
  return outcome.ok ? 'ok' : outcome.message;
}
async function fail(face: Face, email: string, times: number): Promise<void> {
  for (let n = 0; n < times; n++) expect(await attempt(face, email, `guess ${n}`)).toBe(WRONG);
}
const keyOf = (email: string) => createHash('sha256').update(email).digest('base64url');
const count = (list: string[], text: string) => list.filter((one) => one === text).length;

describe.each(FACES)('failed logins over %s', (face) => {
  it('are cleared by a right password', async () => {
    const { email } = await app.signUp();
    for (let round = 0; round < 3; round++) {
      await fail(face, email, 4);
      expect(await attempt(face, email)).toBe('ok');
    }
  });

  it('are counted per address, however it is written', async () => {
    const { email } = await app.signUp();
    await fail(face, email, 2);
    await fail(face, ` ${email.toUpperCase()}`, 3);
    expect(await attempt(face, email)).toBe(LOCKED);
  });

  it('do not add up while the address is locked', async () => {
    const { email } = await app.signUp();
    await fail(face, email, 5);
    for (let n = 0; n < 12; n++) expect(await attempt(face, email, 'a guess')).toBe(LOCKED);
    app.clock.advance(MINUTE);
    expect(await attempt(face, email)).toBe('ok');
  });

  it('lock nobody else out', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    await fail(face, ann.email, 5);
    expect(await attempt(face, bob.email)).toBe('ok');
    expect(await ann.call(face, 'identities.get', { identityId: ann.id })).toMatchObject({ ok: true, value: { locked: false } });
  });

  it('and their lock are cleared when an admin unlocks the identity', async () => {
    const ann = await app.signUp();
    await fail(face, ann.email, 5);
    const admin = await app.signUpAdmin();
    expect(await admin.call(face, 'identities.unlock', { identityId: ann.id })).toMatchObject({ ok: true });
    await fail(face, ann.email, 4);
    expect(await attempt(face, ann.email)).toBe('ok');
  });

  it('of a locked identity start a lock too, and do not unlock it', async () => {
    const ann = await app.signUp();
    await (await app.signUpAdmin()).rest('POST', `/identities/${ann.id}/lock`).expect(204);
    await fail(face, ann.email, 5);
    for (const password of [PASSWORD, 'a guess']) expect(await attempt(face, ann.email, password)).toBe(LOCKED);
    app.clock.advance(MINUTE);
    expect(await attempt(face, ann.email)).toBe(LOCKED);
    expect(await attempt(face, ann.email, 'a guess')).toBe(WRONG);
  });

  it('made at once are limited: five are compared, and the right one after them is not', async () => {
    const { email } = await app.signUp();
    const guesses = Array.from({ length: 19 }, (_, n) => `guess ${n}`);
    const said = await Promise.all([...guesses, PASSWORD].map((guess) => attempt(face, email, guess)));
    expect([count(said, WRONG), count(said, LOCKED)]).toEqual([5, 15]);
  });

  it('in one tRPC batch are counted one by one', async () => {
    const { email } = await app.signUp();
    const inputs = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [n, { email, password: n === 19 ? PASSWORD : `guess ${n}` }]),
    );
    const response = await fetch(`${app.url}/trpc/${Array(20).fill('auth.login').join(',')}?batch=1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(inputs),
    });
    const said = ((await response.json()) as { error?: { message: string } }[]).map(({ error }) => error?.message ?? 'ok');
    expect([count(said, WRONG), count(said, LOCKED)]).toEqual([5, 15]);
  });
});

describe('a login', () => {
  it('costs one comparison of the same cost for known and unknown addresses, and none while locked', async () => {
    const { email } = await app.signUp();
    const compare = vi.spyOn(bcryptThreads, 'compare');
    for (const address of [email, `${crypto.randomUUID()}@example.org`]) {
      compare.mockClear();
      await fail('rest', address, 5);
      expect(compare.mock.calls.map(([, hashes]) => hashes.map(bcrypt.getRounds))).toEqual([[4], [4], [4], [4], [4]]);
      for (const password of [PASSWORD, 'a guess']) expect(await attempt('rest', address, password)).toBe(LOCKED);
      expect(compare).toHaveBeenCalledTimes(5);
    }
    compare.mockRestore();
  });
});

describe('failed logins', () => {
  it.each(['known', 'unknown'])(
    'make an address that is %s wait 1, 5, 15 and then 60 minutes, each time after five more',
    async (kind) => {
      const email = kind === 'known' ? (await app.signUp()).email : `${crypto.randomUUID()}@example.org`;
      for (const minutes of [1, 5, 15, 60, 60]) {
        await fail('rest', email, 5);
        expect(await attempt('rest', email)).toBe(LOCKED);
        app.clock.advance(minutes * MINUTE - MARGIN_MS);
        for (const password of [PASSWORD, 'a guess']) expect(await attempt('rest', email, password)).toBe(LOCKED);
        app.clock.advance(MARGIN_MS);
      }
      expect(await attempt('rest', email)).toBe(kind === 'known' ? 'ok' : WRONG);
    },
  );

  it('on two instances at once count as on one: five are compared, and the right password after them is not', async () => {
    await using second = await startTestServer({ clock: app.clock });
    for (let round = 0; round < 3; round++) {
      const { email } = await app.signUp();
      const guesses = [...Array.from({ length: 39 }, (_, n) => `guess ${n}`), PASSWORD];
      const said = await Promise.all(guesses.map((guess, n) => attempt('rest', email, guess, n % 2 === 0 ? app : second)));
      expect([count(said, WRONG), count(said, LOCKED)]).toEqual([5, 35]);
    }
  });

  it('on another instance do not delay a right password while failures are left', async () => {
    await using second = await startTestServer({ clock: app.clock });
    for (let round = 0; round < 5; round++) {
      const { email } = await app.signUp();
      const guesses = Array.from({ length: 4 }, (_, n) => attempt('rest', email, `guess ${n}`, second));
      expect(await attempt('rest', email)).toBe('ok');
      for (const said of await Promise.all(guesses)) expect(said).toBe(WRONG);
    }
  });

  it('do not result from many right passwords at once on two instances', async () => {
    await using second = await startTestServer({ clock: app.clock });
    const { email } = await app.signUp();
    const said = await Promise.all(
      Array.from({ length: 30 }, (_, n) => attempt('rest', email, PASSWORD, n % 2 === 0 ? app : second)),
    );
    expect(count(said, 'ok')).toBe(30);
    expect(await app.storage.model(failedLoginModel).countDocuments({ _id: keyOf(email) })).toBe(0);
  });

  it('are counted if the process dies while comparing: the places are free again after a minute', async () => {
    const { email } = await app.signUp();
    await fail('rest', email, 3);
    const FailedLogins = app.storage.model(failedLoginModel);
    // what an instance leaves that took the two places that were left
    const until = new Date(app.clock.now().getTime() + MINUTE);
    const { networks = [] } = (await FailedLogins.findById(keyOf(email)).lean()) ?? {};
    const underWay = [1, 2].map((n) => ({ id: `dead ${n}`, until, network: networks[0]?.network }));
    await FailedLogins.updateOne({ _id: keyOf(email) }, { $set: { underWay } });
    const waiting = attempt('rest', email);
    app.clock.advance(MINUTE);
    expect(await waiting).toBe('ok');
  });

  it('are counted from zero after a day', async () => {
    const { email } = await app.signUp();
    await fail('rest', email, 5);
    app.clock.advance(24 * 60 * MINUTE);
    await app.storage.sweep();
    await fail('rest', email, 5);
    app.clock.advance(MINUTE);
    expect(await attempt('rest', email)).toBe('ok');
  });

  it('store no address', async () => {
    const email = `${crypto.randomUUID()}@example.org`;
    await fail('rest', email, 1);
    const records = await app.storage.model(failedLoginModel).find().lean();
    expect(records.length).toBeGreaterThan(0);
    expect(JSON.stringify(records)).not.toContain('@');
  });
});
