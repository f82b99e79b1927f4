import { FACES, PASSWORD, fixture, newEmail, startTestServer, type Face } from '@tandem/testing';
import { describe, expect, it, vi } from 'vitest';
import { bcryptThreads } from '../passwords/bcrypt-threads.js';
import { failedLoginModel } from './failed-login.model.js';

const WRONG = 'wrong credentials provided';
const LOCKED = 'This account is locked';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const app = fixture(() => startTestServer({ trustProxy: 1 }));

let networks = 0;
/** An address of a network that no other test has. */
function newAddress(): string {
  networks += 1;
  return `10.${networks >> 8}.${networks & 255}.7`;
}
interface From {
  ip: string;
  fingerprint?: string;
}
/** What a login says that comes from an address; `ok` when it succeeds. */
async function attempt(face: Face, email: string, { ip, fingerprint }: From, password = PASSWORD, on = app): Promise<string> {
  const input = { email, password, ...(fingerprint !== undefined && { fingerprint }) };
  const outcome = await on.call(face, 'auth.login', input, { headers: { 'x-forwarded-for': ip } });
  return outcome.ok ? 'ok' : outcome.message;
}
const guess = (face: Face, email: string, ip: string, on = app) => attempt(face, email, { ip }, 'a wrong guess', on);
/** So many failures, five from a network. */
async function failEverywhere(face: Face, email: string, times: number): Promise<void> {
  let ip = newAddress();
  for (let n = 0; n < times; n++) {
    if (n % 5 === 0) ip = newAddress();
    expect(await guess(face, email, ip)).toBe(WRONG);
  }
}
async function signUp(): Promise<string> {
  const email = newEmail();
  await app.rest('POST', '/auth/register', { email, password: PASSWORD }).expect(201);
  return email;
}

describe.each(FACES)('failed logins over %s', (face) => {
  it('lock only their own network out of the account, whether or not the address has one', async () => {
    for (const email of [await signUp(), newEmail()]) {
      for (const [one, same, other] of [
        ['198.51.100.7', '198.51.100.200', '198.51.101.7'],
        ['2001:db8:1:2::3', '2001:db8:1:ffff::9', '2001:db8:2:2::3'],
      ] as const) {
        for (let n = 0; n < 5; n++) expect(await guess(face, email, n % 2 === 0 ? one : same)).toBe(WRONG);
        for (const ip of [one, same]) expect(await attempt(face, email, { ip })).toBe(LOCKED);
        expect(await guess(face, email, other)).toBe(WRONG);
      }
    }
  });

  it('from elsewhere do not lock out the owner, who signs in from another network', async () => {
    const email = await signUp();
    const attacker = newAddress();
    for (let n = 0; n < 5; n++) await guess(face, email, attacker);
    expect(await attempt(face, email, { ip: newAddress() })).toBe('ok');
    // a right password forgets the failures of its own network alone
    expect(await attempt(face, email, { ip: attacker })).toBe(LOCKED);
  });

  it('from 50 places within an hour lock out everybody whose network and device are unknown', async () => {
    const email = await signUp();
    const home = { ip: newAddress() };
    const phone = { ip: newAddress(), fingerprint: `phone ${email}` };
    for (const place of [home, phone]) expect(await attempt(face, email, place)).toBe('ok');
    await failEverywhere(face, email, 50);
    for (const password of [PASSWORD, 'a wrong guess'])
      expect(await attempt(face, email, { ip: newAddress() }, password)).toBe(LOCKED);
    expect(await attempt(face, email, { ip: newAddress(), fingerprint: 'another phone' })).toBe(LOCKED);
    for (const ip of [home.ip, phone.ip, home.ip.replace(/\d+$/, '99')]) expect(await attempt(face, email, { ip })).toBe('ok');
    expect(await attempt(face, email, { ...phone, ip: newAddress() })).toBe('ok');
    // who goes on is still counted
    for (let n = 0; n < 5; n++) expect(await guess(face, email, home.ip)).toBe(WRONG);
    expect(await attempt(face, email, home)).toBe(LOCKED);
    app.clock.advance(HOUR + 1000);
    expect(await attempt(face, email, { ip: newAddress() })).toBe('ok');
  });

  it('let who is signed in on a known device prove who they are from anywhere', async () => {
    const email = await signUp();
    const fingerprint = `phone ${email}`;
    const input = { email, password: PASSWORD, fingerprint };
    const { value } = (await app.call(face, 'auth.login', input, { headers: { 'x-forwarded-for': newAddress() } })) as {
      value: { id: string; accessToken: string };
    };
    await failEverywhere(face, email, 50);
    const headers = { 'x-forwarded-for': newAddress(), 'x-nb-fingerprint': fingerprint };
    const proof = { identityId: value.id, password: PASSWORD };
    expect(await app.call(face, 'auth.prove', proof, { accessToken: value.accessToken, headers })).toMatchObject({
      ok: true,
    });
  });

  it('lock out unknown places of an address without an account too', async () => {
    const email = newEmail();
    await failEverywhere(face, email, 50);
    expect(await guess(face, email, newAddress())).toBe(LOCKED);
  });
});

describe('failed logins', () => {
  it('made at once from many networks never exceed the 50: only the remaining ones are compared', async () => {
    await using second = await startTestServer({ trustProxy: 1, clock: app.clock });
    const email = await signUp();
    await failEverywhere('rest', email, 45);
    const compare = vi.spyOn(bcryptThreads, 'compare');
    const said = await Promise.all(
      Array.from({ length: 20 }, (_, n) => guess('rest', email, newAddress(), n % 2 === 0 ? app : second)),
    );
    expect(compare).toHaveBeenCalledTimes(5);
    compare.mockRestore();
    expect(said.filter((one) => one === WRONG)).toHaveLength(5);
    expect(said.filter((one) => one === LOCKED)).toHaveLength(15);
  });

  it('are cleared by a password reset, for all networks', async () => {
    const email = await signUp();
    await app.rest('POST', '/auth/send-reset-password-link-email', { email }).expect(204);
    const { token } = await app.mail.next(email, (mail) => mail.token !== undefined);
    await failEverywhere('rest', email, 50);
    await app.rest('POST', '/auth/reset-password', { token, password: 'another password of the tests' }).expect(204);
    expect(await attempt('rest', email, { ip: newAddress() }, 'another password of the tests')).toBe('ok');
  });

  it('do not lock out a place of a sign-in by one-time token, for 30 days', async () => {
    const ann = await app.signUp();
    const place = { ip: newAddress() };
    const { token } = await app.tandem.services.onetimeTokens.create({ identityId: ann.id, target: 'login' });
    await app.rest('POST', '/auth/ott/login', { token }, { headers: { 'x-forwarded-for': place.ip } }).expect(200);
    app.clock.advance(30 * DAY - HOUR);
    await failEverywhere('rest', ann.email, 50);
    expect(await attempt('rest', ann.email, { ip: newAddress() })).toBe(LOCKED);
    // no sign-in, so that the time does not begin anew
    expect(await guess('rest', ann.email, place.ip)).toBe(WRONG);
    app.clock.advance(HOUR);
    await failEverywhere('rest', ann.email, 50);
    expect(await guess('rest', ann.email, place.ip)).toBe(LOCKED);
  });

  it('refused by a lock count toward no limit', async () => {
    await using limited = await startTestServer({ clock: app.clock, rateLimits: { login: { perAccount: [7, 3600] } } });
    // which signs in too
    const { email } = await limited.signUp();
    const login = (password: string) => limited.rest('POST', '/auth/login', { email, password });
    for (let n = 0; n < 5; n++) await login('a wrong guess').expect(401, WRONG);
    for (let n = 0; n < 5; n++) await login(PASSWORD).expect(401, LOCKED);
    limited.clock.advance(MINUTE);
    await login('a wrong guess').expect(401, WRONG);
    await login(PASSWORD).expect(429);
  });

  it('and known places store neither address nor network', async () => {
    const email = await signUp();
    const ip = newAddress();
    await attempt('rest', email, { ip, fingerprint: 'a phone' });
    await guess('rest', email, ip);
    const database = app.storage.model(failedLoginModel).db.db;
    for (const name of ['failedLogins', 'knownPlaces']) {
      const records = await database?.collection(name).find().toArray();
      expect(records?.length).toBeGreaterThan(0);
      const text = JSON.stringify(records);
      for (const secret of ['@', ip.split('.', 3).join('.'), 'phone']) expect(text).not.toContain(secret);
    }
  });

  it.each([
    ['a failure', 'failedLogins', 'networks.failures', 'a wrong guess'],
    ['a session', 'sessions', 'userAgent', PASSWORD],
  ])('hold no place once they have ended, though %s could not be written', async (_, name, field, password) => {
    const [first, email] = [await signUp(), await signUp()];
    const place = { ip: newAddress() };
    const collection = app.storage.model(failedLoginModel).db.collection(name);
    await collection.deleteMany({});
    await attempt('rest', first, place, password);
    // from now on the store refuses to write a second one
    const index = await collection.createIndex({ [field]: 1 }, { unique: true });
    try {
      for (let n = 0; n < 6; n++) expect(await attempt('rest', email, place, password)).toBe('Failed to create session');
    } finally {
      await collection.dropIndex(index);
    }
    expect(await attempt('rest', email, place)).toBe('ok');
  });
});
