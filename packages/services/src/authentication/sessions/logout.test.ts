import { FACES, OK, UNVERIFIED, fixture, startTestServer, type Face, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const MINUTE = 60_000;

const app = fixture(startTestServer);

const isLive = async (person: Person, server = app) =>
  (await server.rest('GET', `/identities/${person.id}`, undefined, person.credentials)).status === 200;
const logout = (face: Face, input: Record<string, unknown>, accessToken?: string) =>
  app.call(face, 'auth.logout', input, { accessToken });

describe.each(FACES)('logout over %s', (face) => {
  it('ends the session of the access token at once, and no other; it is idempotent', async () => {
    const ann = await app.signUp();
    const other = await app.signIn(ann.email);
    for (let times = 0; times < 2; times++) expect(await ann.call(face, 'auth.logout')).toEqual(OK);
    expect([await isLive(ann), await isLive(other)]).toEqual([false, true]);
  });

  it('ends the session of a refresh token alone', async () => {
    const ann = await app.signUp();
    for (let times = 0; times < 2; times++) expect(await logout(face, { refreshToken: ann.refreshToken })).toEqual(OK);
    expect(await isLive(ann)).toBe(false);
  });

  it('ends both sessions if the two tokens belong to different sessions', async () => {
    const ann = await app.signUp();
    const other = await app.signIn(ann.email);
    expect(await logout(face, { refreshToken: other.refreshToken }, ann.accessToken)).toEqual(OK);
    expect([await isLive(ann), await isLive(other)]).toEqual([false, false]);
  });

  it('ends a session by an expired access token and by a used refresh token, without the fingerprint', async () => {
    const ann = await app.signUp({ fingerprint: 'device 1' });
    app.clock.advance(16 * MINUTE);
    expect(await ann.call(face, 'identities.get', { identityId: ann.id })).toEqual(UNVERIFIED);
    expect(await logout(face, {}, ann.accessToken)).toEqual(OK);
    const refreshing = { refreshToken: ann.refreshToken };
    expect(await app.call(face, 'auth.refreshToken', refreshing, { fingerprint: 'device 1' })).toMatchObject({ status: 422 });

    const bob = await app.signUp();
    const { accessToken } = await app.rest('POST', '/auth/token/refresh', { refreshToken: bob.refreshToken }).expect<Person>(200);
    expect(await logout(face, { refreshToken: bob.refreshToken })).toEqual(OK);
    expect(await isLive({ ...bob, credentials: { accessToken } })).toBe(false);
  });

  it('answers 422 to a missing token and to a malformed header', async () => {
    expect(await app.call(face, 'auth.logout')).toEqual({ ok: false, status: 422, message: 'Missing authorization header' });
    expect(await app.call(face, 'auth.logout', {}, { headers: { authorization: 'Basic x' } })).toEqual({
      ok: false,
      status: 422,
      message: 'Incorrect authorization of token header',
    });
  });

  it('answers 401 to an invalid access token, and Invalid token to a refresh token in its place', async () => {
    const ann = await app.signUp();
    expect(await logout(face, { refreshToken: ann.refreshToken }, 'garbage')).toEqual(UNVERIFIED);
    expect(await logout(face, {}, ann.refreshToken)).toEqual({ ok: false, status: 401, message: 'Invalid token' });
    expect(await isLive(ann)).toBe(true);
  });

  it('answers 401 to the refresh token of another identity, and ends neither session', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    expect(await logout(face, { refreshToken: bob.refreshToken }, ann.accessToken)).toEqual(UNVERIFIED);
    expect([await isLive(ann), await isLive(bob)]).toEqual([true, true]);
  });

  it('ignores a refresh token that cannot be read', async () => {
    const ann = await app.signUp();
    expect(await logout(face, { refreshToken: 'garbage' }, ann.accessToken)).toEqual(OK);
    expect(await isLive(ann)).toBe(false);
  });

  it('answers 400 to an unknown body field', async () => {
    const ann = await app.signUp();
    expect(await logout(face, { refreshToken: 5, foo: 1 }, ann.accessToken)).toMatchObject({ status: 400 });
    expect(await isLive(ann)).toBe(true);
  });
});

describe.each(FACES)('logout in cookie mode over %s', (face) => {
  const start = () =>
    startTestServer({ clock: app.clock, authModes: { auth: 'cookie', identities: 'cookie', notifications: 'cookie' } });

  it('ends the session of the cookies, repeatedly and without any', async () => {
    await using cookies = await start();
    const ann = await cookies.signUp();
    for (let times = 0; times < 2; times++) expect(await ann.call(face, 'auth.logout')).toEqual(OK);
    expect(await isLive(ann, cookies)).toBe(false);
    expect(await cookies.call(face, 'auth.logout')).toEqual(OK);
  });

  it('ends it by either cookie, whatever the other contains', async () => {
    await using cookies = await start();
    for (const cookieOf of [
      (person: Person) => `accessToken=${person.accessToken}`,
      (person: Person) => `refreshToken=${person.refreshToken}`,
      (person: Person) => `accessToken=garbage; refreshToken=${person.refreshToken}`,
      (person: Person) => `accessToken=${person.accessToken}; refreshToken=j:{}`,
      (person: Person) => `accessToken=; refreshToken=${person.refreshToken}`,
    ]) {
      const ann = await cookies.signUp();
      expect(await cookies.call(face, 'auth.logout', {}, { headers: { cookie: cookieOf(ann) } })).toEqual(OK);
      expect(await isLive(ann, cookies)).toBe(false);
    }
  });

  it('answers 422 to a bearer token of another identity, 401 to a refresh token of another, and ends neither session', async () => {
    await using cookies = await start();
    const [ann, bob] = [await cookies.signUp(), await cookies.signUp()];
    const access = { cookie: `accessToken=${ann.accessToken}` };
    expect(await cookies.call(face, 'auth.logout', {}, { headers: access, accessToken: bob.accessToken })).toEqual({
      ok: false,
      status: 422,
      message: 'Cookie and bearer did not match',
    });
    expect(await cookies.call(face, 'auth.logout', { refreshToken: bob.refreshToken }, { headers: access })).toEqual(UNVERIFIED);
    expect([await isLive(ann, cookies), await isLive(bob, cookies)]).toEqual([true, true]);
  });
});
