import { createTokens } from '@tandem/core';
import { FACES, TEST_SECRETS, UNUSABLE, UNVERIFIED, fixture, startTestServer, type Face, type Person } from '@tandem/testing';
import { describe, expect, it, vi } from 'vitest';
import { sessionModel } from './session.model.js';

const REUSED = { ok: false, status: 401, message: 'refresh token reuse detected' };
type Pair = { accessToken: string; refreshToken: string };

const app = fixture(startTestServer);

const tryRefresh = (face: Face, refreshToken: string, fingerprint?: string, server = app) =>
  server.call(face, 'auth.refreshToken', { refreshToken }, { fingerprint });
async function refresh(face: Face, refreshToken: string, fingerprint?: string, server = app): Promise<Pair> {
  const outcome = await tryRefresh(face, refreshToken, fingerprint, server);
  expect(outcome).toMatchObject({ ok: true });
  return (outcome as { value: Pair }).value;
}
/** Whose access token it is, if it counts. */
const use = (face: Face, person: Person, accessToken: string, fingerprint?: string) =>
  app.call(face, 'identities.get', { identityId: person.id }, { accessToken, fingerprint });
/** Id of the refresh token that may be used next. */
async function newestJti(person: Person): Promise<string | undefined> {
  return (await app.storage.model(sessionModel).findOne({ identityId: person.id }).lean())?.jti;
}
/** Reads with the secrets of the fixture. */
async function jtiOf(refreshToken: string): Promise<string> {
  const tokens = await createTokens({
    signSecrets: [TEST_SECRETS.authSignSecret],
    encSecrets: [TEST_SECRETS.authEncSecret],
    clock: app.clock,
  });
  return (await tokens.verify('refresh', refreshToken)).jti;
}

describe.each(FACES)('a refresh over %s', (face) => {
  it('returns a new pair that works, and leaves the previous access token valid', async () => {
    const ann = await app.signUp();
    const pair = await refresh(face, ann.refreshToken);
    expect(Object.keys(pair).sort()).toEqual(['accessToken', 'refreshToken']);
    expect(pair.refreshToken).not.toBe(ann.refreshToken);
    for (const token of [pair.accessToken, ann.accessToken]) expect(await use(face, ann, token)).toMatchObject({ ok: true });
  });

  it('can be repeated with each new token', async () => {
    const ann = await app.signUp();
    let token = ann.refreshToken;
    for (let n = 0; n < 25; n++) {
      app.clock.advance(60_000);
      token = (await refresh(face, token)).refreshToken;
    }
    expect(await newestJti(ann)).toBe(await jtiOf(token));
  });

  it('with one token, 20 times at once, has one successor', async () => {
    const ann = await app.signUp();
    const pairs = await Promise.all(Array.from({ length: 20 }, () => refresh(face, ann.refreshToken)));
    expect(new Set(await Promise.all(pairs.map((pair) => jtiOf(pair.refreshToken))))).toEqual(new Set([await newestJti(ann)]));
    for (const pair of pairs.slice(0, 3)) expect(await use(face, ann, pair.accessToken)).toMatchObject({ ok: true });
    // any of the answers goes on, and the others within the grace after it
    const next = await refresh(face, pairs[7]?.refreshToken ?? '');
    expect(await jtiOf((await refresh(face, pairs[0]?.refreshToken ?? '')).refreshToken)).toBe(await jtiOf(next.refreshToken));
  });

  it('with a used token gets the same successor for ten seconds; later it is theft, and the whole family ends', async () => {
    const ann = await app.signUp();
    const other = await app.signIn(ann.email);
    const first = await refresh(face, ann.refreshToken);
    app.clock.advance(9000);
    const again = await refresh(face, ann.refreshToken);
    expect(await jtiOf(again.refreshToken)).toBe(await jtiOf(first.refreshToken));
    app.clock.advance(2000);

    expect(await tryRefresh(face, ann.refreshToken)).toEqual(REUSED);

    for (const token of [ann.accessToken, first.accessToken, again.accessToken])
      expect(await use(face, ann, token)).toEqual(UNVERIFIED);
    for (const token of [ann.refreshToken, first.refreshToken]) expect(await tryRefresh(face, token)).toEqual(UNUSABLE);
    expect(await use(face, ann, other.accessToken)).toMatchObject({ ok: true });
    expect(await tryRefresh(face, other.refreshToken)).toMatchObject({ ok: true });
  });

  it('with an old token of the family ends the family too', async () => {
    const ann = await app.signUp();
    let token = ann.refreshToken;
    for (let n = 0; n < 25; n++) token = (await refresh(face, token)).refreshToken;
    expect(await tryRefresh(face, ann.refreshToken)).toEqual(REUSED);
    expect(await tryRefresh(face, token)).toEqual(UNUSABLE);
  });

  it('needs the fingerprint of the login, and a stranger’s attempt ends nothing', async () => {
    const ann = await app.signUp({ fingerprint: 'device 1' });
    for (const fingerprint of [undefined, 'device 2'])
      expect(await tryRefresh(face, ann.refreshToken, fingerprint)).toEqual(UNUSABLE);
    const pair = await refresh(face, ann.refreshToken, 'device 1');
    app.clock.advance(11_000);
    expect(await tryRefresh(face, ann.refreshToken, 'device 2')).toEqual(UNUSABLE);
    expect(await use(face, ann, pair.accessToken, 'device 1')).toMatchObject({ ok: true });
    expect(await use(face, ann, pair.accessToken)).toMatchObject({ message: 'Token fails security check' });

    const bob = await app.signUp();
    expect(await tryRefresh(face, bob.refreshToken, 'device 1')).toEqual(UNUSABLE);
    expect(
      await app.call(face, 'auth.refreshToken', { refreshToken: bob.refreshToken }, { fingerprint: 'f'.repeat(513) }),
    ).toMatchObject({
      status: 422,
      message: 'Incorrect format of x-nb-fingerprint header',
    });
  });

  it('answers 422 to an invalid refresh token and to none', async () => {
    const ann = await app.signUp();
    for (const token of ['garbage', ann.accessToken, `${ann.refreshToken}A`, ann.refreshToken.slice(0, -2)])
      expect(await tryRefresh(face, token)).toEqual(UNUSABLE);
    expect(await app.call(face, 'auth.refreshToken')).toEqual({
      ok: false,
      status: 422,
      message: 'Unable to find refresh token',
    });
    expect(await app.call(face, 'auth.refreshToken', { refreshToken: 5, foo: 1 })).toMatchObject({
      status: 400,
      data: ['request body/refreshToken must be string', "request body must NOT have additional properties: 'foo'"],
    });
  });

  it('answers 422 after logout, lock and deletion', async () => {
    const admin = await app.signUpAdmin();
    const endings: ((person: Person) => Promise<unknown>)[] = [
      (person) => person.call(face, 'auth.logout'),
      (person) => person.call(face, 'auth.deleteRefreshTokens', { identityId: person.id }),
      (person) => admin.call(face, 'identities.lock', { identityId: person.id }),
      (person) => admin.call(face, 'identities.delete', { identityId: person.id }),
    ];
    for (const end of endings) {
      const ann = await app.signUp();
      expect(await end(ann)).toMatchObject({ ok: true });
      expect(await tryRefresh(face, ann.refreshToken)).toEqual(UNUSABLE);
    }
  });

  it('on another instance is refused at once after a lock, although a copy says that the session lives; by the epoch alone within a second', async () => {
    await using second = await startTestServer({ clock: app.clock });
    const [ann, admin] = [await app.signUp(), await app.signUpAdmin()];
    await second.rest('GET', `/identities/${ann.id}`, undefined, ann.credentials).expect(200);
    const { collection } = app.storage.model(sessionModel);
    const session = await collection.findOne({ identityId: ann.id });
    await admin.rest('POST', `/identities/${ann.id}/lock`).expect(204);
    expect(await tryRefresh(face, ann.refreshToken, undefined, second)).toEqual(UNUSABLE);
    // as if the process had died before it removed the session
    await collection.insertOne(session ?? {});
    await vi.waitFor(async () => expect(await tryRefresh(face, ann.refreshToken, undefined, second)).toEqual(UNUSABLE), 1500);
  });
});

describe('a refresh token', () => {
  it('lives for 14 days from its last use', async () => {
    const ann = await app.signUp();
    const day = 24 * 3600_000;
    app.clock.advance(13 * day);
    const pair = await refresh('rest', ann.refreshToken);
    app.clock.advance(14 * day);
    expect(await tryRefresh('rest', pair.refreshToken)).toEqual(UNUSABLE);
  });

  it('belongs to a family, of which the store keeps device, address and times but neither tokens nor fingerprint', async () => {
    const ann = await app.signUp({ fingerprint: 'device 1' });
    const headers = { 'user-agent': 'a browser' };
    await app
      .rest('POST', '/auth/token/refresh', { refreshToken: ann.refreshToken }, { headers, fingerprint: 'device 1' })
      .expect(200);
    const session = await app.storage.model(sessionModel).findOne({ identityId: ann.id }).lean();
    expect(session).toMatchObject({ ip: '127.0.0.1', userAgent: 'a browser', epoch: 0 });
    const text = JSON.stringify(session);
    for (const secret of ['device 1', ann.refreshToken, ann.accessToken]) expect(text).not.toContain(secret);
  });

  it('used on two instances at once has one successor', async () => {
    await using second = await startTestServer({ clock: app.clock });
    const ann = await app.signUp();
    const pairs = await Promise.all(
      Array.from({ length: 20 }, (_, n) => refresh('rest', ann.refreshToken, undefined, n % 2 === 0 ? app : second)),
    );
    expect(new Set(await Promise.all(pairs.map((pair) => jtiOf(pair.refreshToken)))).size).toBe(1);
  });
});
