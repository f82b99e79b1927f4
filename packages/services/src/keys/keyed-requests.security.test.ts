import { createHash, randomBytes } from 'node:crypto';
import {
  FACES,
  NEW_PASSWORD,
  PASSWORD,
  cookiesOf,
  fixture,
  holdTime,
  openStream,
  refusalOf,
  sendRaw,
  startTestServer,
  type Credentials,
  type Face,
  type Person,
  type TestServer,
} from '@tandem/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeKey } from '../../test/api-keys.js';
import { apiKeyModel } from './api-key.model.js';
import { makeKey as newKey } from './key-text.js';

const UNVERIFIED = { ok: false, status: 401, message: 'token could not be verified' };
const MINUTE = 60_000;
/** What ends a key acts within a second; this is for a busy machine too. */
const SOON = { timeout: 3000, interval: 50 };
const REVOKED = { code: 1008, reason: 'the session has ended' };

const app = fixture(() => startTestServer({ trustProxy: true }));
/** Without Redis, as the first: they share nothing but the store. */
const second = fixture(() => startTestServer({ clock: app.clock }));
const COOKIE_MODE = { auth: 'cookie', identities: 'cookie', notifications: 'cookie' } as const;
const inCookies = fixture(() =>
  startTestServer({ clock: app.clock, authModes: COOKIE_MODE, publicUrl: 'https://app.example.org' }),
);

const read = (face: Face, { id }: Pick<Person, 'id'>, credentials: Credentials, server: TestServer = app) =>
  server.call(face, 'identities.get', { identityId: id }, credentials);
const statusOf = async (person: Person, credentials: Credentials, server = app) =>
  (await server.rest('GET', `/identities/${person.id}`, undefined, credentials)).status;
const from = (address: string, { accessToken }: Credentials): Credentials => ({
  accessToken,
  headers: { 'x-forwarded-for': address },
});

afterEach(() => vi.restoreAllMocks());

describe.each(FACES)('a request with an API key over %s', (face) => {
  it('acts as its identity, also with a fingerprint, which keys are not bound to', async () => {
    const ann = await app.signUp({ fingerprint: 'device 1' });
    const { credentials } = await makeKey(ann);
    for (const fingerprint of [undefined, 'device 2', 'x'.repeat(600)])
      expect(await read(face, ann, { ...credentials, fingerprint })).toMatchObject({ ok: true, value: { id: ann.id } });
  });

  it('is refused with any other text, and only what may be a key is looked up', async () => {
    const ann = await app.signUp();
    const { key } = await makeKey(ann);
    const lookups = vi.spyOn(app.storage.model(apiKeyModel), 'findOne');
    const wrong = [
      'tdm_',
      'tdm_x',
      key.slice(0, -1),
      `${key}A`,
      key.toUpperCase(),
      key.replace('tdm_', 'tdm-'),
      `tdm_${'A'.repeat(48)}`,
    ];
    const changed = key.slice(0, 20) + (key[20] === 'A' ? 'B' : 'A') + key.slice(21);
    for (const text of [...wrong, changed]) expect(await read(face, ann, { accessToken: text })).toEqual(UNVERIFIED);
    expect(lookups).not.toHaveBeenCalled();
    expect(await read(face, ann, { accessToken: newKey() })).toEqual(UNVERIFIED);
    expect(lookups).toHaveBeenCalledTimes(1);
    const two = await sendRaw(`${app.url}/identities/${ann.id}`, { headers: ['authorization', `Bearer ${key} ${key}`] });
    expect(two.status).toBe(422);
  });

  it('is refused once the key has expired', async () => {
    const ann = await app.signUp();
    const expiresAt = new Date(app.clock.now().getTime() + MINUTE).toISOString();
    const { credentials } = await makeKey(ann, { expiresAt });
    expect(await read(face, ann, credentials)).toMatchObject({ ok: true });
    app.clock.advance(MINUTE);
    expect(await read(face, ann, credentials)).toEqual(UNVERIFIED);
  });

  it.each<[string, string[], string[], string[]]>([
    ['a network of IPv4', ['203.0.113.0/24'], ['203.0.113.7', '::ffff:203.0.113.255'], ['203.0.114.1', '2001:db8::1', 'nobody']],
    ['an address', ['203.0.113.7', '2001:db8::7'], ['203.0.113.7', '2001:db8:0::7'], ['203.0.113.8', '2001:db8::8']],
    ['a network of IPv6', ['2001:db8::/32'], ['2001:db8:1::1'], ['2001:db9::1', '203.0.113.7']],
    ['one of IPv4-mapped addresses', ['::ffff:203.0.113.0/120'], ['203.0.113.7', '::ffff:203.0.113.7'], ['203.0.114.7']],
    ['all of IPv6', ['::/0'], ['2001:db8::1'], ['203.0.113.7', '::ffff:203.0.113.7']],
  ])('is accepted from %s alone', async (_name, networks, inside, outside) => {
    const ann = await app.signUp();
    const { credentials } = await makeKey(ann, { networks });
    for (const address of inside) expect(await read(face, ann, from(address, credentials)), address).toMatchObject({ ok: true });
    for (const address of outside) expect(await read(face, ann, from(address, credentials)), address).toEqual(UNVERIFIED);
  });
});

describe.each(FACES)('in cookie mode over %s', (face) => {
  const elsewhere = { origin: 'https://evil.example.org' };

  it('a key alone suffices, whatever the origin, because browsers do not attach it', async () => {
    const ann = await app.signUp();
    const { credentials } = await makeKey(ann);
    expect(await read(face, ann, credentials, inCookies)).toMatchObject({ ok: true });
    const { id: lastReadNotificationId } = await app.tandem.services.notifications.notify(ann.id);
    const marked = await inCookies.call(
      face,
      'notifications.markReadUpTo',
      { identityId: ann.id, lastReadNotificationId },
      { ...credentials, headers: elsewhere },
    );
    expect(marked).toMatchObject({ ok: true });
  });

  it('a cookie of another identity is 422, and beside one of the same the key decides', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const login = async ({ email }: Person) =>
      cookiesOf(await inCookies.rest('POST', '/auth/login', { email, password: PASSWORD }))['accessToken'] ?? '';
    const { accessToken } = (await makeKey(ann, { scopes: ['products.*'] })).credentials;
    const withCookie = (value: string): Credentials => ({ accessToken, headers: { cookie: `accessToken=${value}` } });
    expect(await read(face, ann, withCookie(await login(bob)), inCookies)).toEqual({
      ok: false,
      status: 422,
      message: 'Cookie and bearer did not match',
    });
    expect(await read(face, ann, withCookie(await login(ann)), inCookies)).toMatchObject({
      status: 403,
      message: 'API key does not allow this',
    });
    expect(await read(face, ann, withCookie('garbage'), inCookies)).toEqual(UNVERIFIED);
    // a key is no cookie
    const inCookie = { headers: { cookie: `accessToken=${accessToken}` } };
    expect(await read(face, ann, inCookie, inCookies)).toEqual(UNVERIFIED);
  });
});

it('streams of a service in cookie mode open with a key', async () => {
  const ann = await app.signUp();
  const { credentials } = await makeKey(ann);
  await (await openStream(inCookies.url, '/notifications/listen', credentials)).close();
  const refused = await refusalOf(inCookies.url, '/notifications/listen', { accessToken: newKey() });
  expect(refused).toMatchObject({ status: 401, body: { error: { message: UNVERIFIED.message } } });
});

it('a ticket of a key works only where the key does', async () => {
  const ann = await app.signUp();
  const { credentials } = await makeKey(ann, { networks: ['203.0.113.0/24'] });
  const ticket = async () => {
    const inside = from('203.0.113.7', credentials);
    const { ticket: text } = await app.rest('POST', '/notifications/listen/tickets', {}, inside).expect<{ ticket: string }>(201);
    return `/notifications/listen?ticket=${text}`;
  };
  expect(await refusalOf(app.url, await ticket())).toMatchObject({ status: 401 });
  await (await openStream(app.url, await ticket(), { headers: { 'x-forwarded-for': '203.0.113.9' } })).close();
});

describe('the end of a key', () => {
  const endings: Record<string, (ann: Person, keyId: string) => Promise<unknown>> = {
    'its deletion': (ann, keyId) => ann.rest('DELETE', `/auth/${ann.id}/keys/${keyId}`).expect(204),
    'a lock': async (ann) => (await app.signUpAdmin()).rest('POST', `/identities/${ann.id}/lock`).expect(204),
    'a deletion of the identity': async (ann) => (await app.signUpAdmin()).rest('DELETE', `/identities/${ann.id}`).expect(204),
    'a deactivation': (ann) => ann.rest('POST', '/auth/deactivate', { identityId: ann.id }).expect(204),
    'a reset of the password': async ({ email }) => {
      await app.rest('POST', '/auth/send-reset-password-link-email', { email }).expect(204);
      const { token } = await app.mail.next(email, ({ link = '' }) => link.includes('/reset-password'));
      await app.rest('POST', '/auth/reset-password', { token, password: NEW_PASSWORD }).expect(204);
    },
  };
  it.each(Object.keys(endings))('by %s takes effect within a second on every instance, also for open streams', async (name) => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const { id, credentials } = await makeKey(ann);
    const other = await makeKey(bob);
    const socket = async (server: TestServer) => {
      const opened = await openStream(server.url, '/trpc', credentials);
      opened.send({ id: 1, method: 'subscription', params: { path: 'notifications.events', input: {} } });
      await expect.poll(() => opened.frames.length).toBeGreaterThan(0);
      return opened;
    };
    const streams = [
      await openStream(app.url, '/notifications/listen', credentials),
      await openStream(second.url, '/messages/listen', credentials),
      await socket(app),
      await socket(second),
    ];
    await using kept = await openStream(second.url, '/notifications/listen', other.credentials);
    expect(await statusOf(ann, credentials, second)).toBe(200);
    await endings[name]?.(ann, id);
    const ended = performance.now();
    expect(await statusOf(ann, credentials)).toBe(401);
    await expect.poll(() => statusOf(ann, credentials, second), SOON).toBe(401);
    expect(await Promise.all(streams.map(({ closed }) => closed))).toEqual(streams.map(() => REVOKED));
    expect(performance.now() - ended).toBeLessThan(3000);
    expect(await statusOf(bob, other.credentials, second)).toBe(200);
    kept.send({ type: 'ping' });
    await kept.next('pong');
  });

  it('is for good: what is unlocked, activated or restored has no keys', async () => {
    const [ann, bob, eve, admin] = [await app.signUp(), await app.signUp(), await app.signUp(), await app.signUpAdmin()];
    const keys = await Promise.all([ann, bob, eve].map((person) => makeKey(person)));
    await admin.rest('POST', `/identities/${ann.id}/lock`).expect(204);
    await admin.rest('POST', `/identities/${ann.id}/unlock`).expect(204);
    await admin.rest('POST', '/auth/deactivate', { identityId: bob.id }).expect(204);
    await admin.rest('POST', '/auth/activate', { identityId: bob.id }).expect(204);
    await admin.rest('DELETE', `/identities/${eve.id}`).expect(204);
    await admin.rest('POST', `/identities/${eve.id}/restore`).expect(200);
    for (const [n, person] of [ann, bob, eve].entries()) {
      expect(await statusOf(person, keys[n]?.credentials ?? {})).toBe(401);
      const again = await app.signIn(person.email);
      const { data } = await again.rest('GET', `/auth/${person.id}/keys`).expect<{ data: object[] }>(200);
      expect(data).toEqual([]);
    }
  });

  it('does not come with a logout, the end of all sessions or a change of the password by who knows it', async () => {
    const ann = await app.signUp();
    const { credentials } = await makeKey(ann);
    await ann.rest('PATCH', `/auth/${ann.id}/change-password`, { password: PASSWORD, newPassword: NEW_PASSWORD }).expect(204);
    const again = await app.signIn(ann.email, { password: NEW_PASSWORD });
    await again.rest('DELETE', `/auth/${ann.id}/refresh-tokens`).expect(204);
    app.clock.advance(1000);
    expect(await statusOf(ann, credentials)).toBe(200);
  });

  it('closes streams when it expires', async () => {
    const ann = await app.signUp();
    const expiresAt = new Date(app.clock.now().getTime() + MINUTE).toISOString();
    const { credentials } = await makeKey(ann, { expiresAt });
    const stream = await openStream(second.url, '/notifications/listen', credentials);
    app.clock.advance(MINUTE);
    expect(await stream.closed).toMatchObject({ code: 4401 });
  });
});

it('a key that is made while its identity is locked never works', async () => {
  const admin = await app.signUpAdmin();
  for (let n = 0; n < 5; n++) {
    const ann = await app.signUp();
    const [made] = await Promise.allSettled([makeKey(ann), admin.rest('POST', `/identities/${ann.id}/lock`).expect(204)]);
    await admin.rest('POST', `/identities/${ann.id}/unlock`).expect(204);
    const status = made.status === 'fulfilled' ? await statusOf(ann, made.value.credentials) : 401;
    expect(status).toBe(401);
  }
});

it('no key is made by a key, whatever its scopes', async () => {
  const admin = await app.signUpAdmin();
  const { credentials } = await makeKey(admin);
  const body = { name: 'another', scopes: ['*'] };
  await app.rest('POST', `/auth/${admin.id}/keys`, body, credentials).expect(403, 'API key does not allow this');
});

it('neither logs, nor answers, nor the export of the store hold a key', async () => {
  const ann = await app.signUp();
  const { key, credentials } = await makeKey(ann, { networks: ['10.0.0.0/8'] });
  expect(await statusOf(ann, credentials)).toBe(401);
  await app.rest('GET', `/identities/${randomBytes(4).toString('hex')}`, undefined, credentials).expect(401);
  const secret = key.slice(4);
  const rows = await app.storage.model(apiKeyModel).collection.find({ identityId: ann.id }).toArray();
  expect(rows).toMatchObject([{ hash: createHash('sha256').update(key).digest('base64url') }]);
  expect(JSON.stringify(rows)).not.toContain(secret);
  expect(app.logs()).not.toContain(secret.slice(0, 16));
});

it('a request with a key that was looked up within the last second reads nothing for it', async () => {
  const ann = await app.signUp();
  const { credentials } = await makeKey(ann);
  holdTime();
  await statusOf(ann, credentials);
  const lookups = vi.spyOn(app.storage.model(apiKeyModel), 'findOne');
  for (let n = 0; n < 5; n++) expect(await statusOf(ann, credentials)).toBe(200);
  expect(lookups).not.toHaveBeenCalled();
});
