import { FACES, UNVERIFIED, fixture, startTestServer, type Face } from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const app = fixture(startTestServer);

const check = (face: Face, token: unknown, more: { fingerprint?: string; target?: unknown } = {}) =>
  app.call(
    face,
    'auth.checkToken',
    { token, ...('target' in more && { target: more.target }) },
    { fingerprint: more.fingerprint },
  );

describe.each(FACES)('token/check over %s', (face) => {
  it('tells whose token it is and when it expires, any number of times', async () => {
    const ann = await app.signUp();
    const first = await check(face, ann.accessToken);
    expect(first).toMatchObject({ ok: true, value: { identityId: ann.id } });
    const { expiresAt } = (first as { value: { expiresAt: string } }).value;
    expect(Date.parse(expiresAt)).toBeGreaterThan(app.clock.now().getTime());
    expect(await check(face, ann.accessToken, { target: 'login' })).toEqual(first);
  });

  it('answers 401 to an invalid token', async () => {
    const ann = await app.signUp();
    expect(await check(face, 'garbage')).toEqual(UNVERIFIED);
    expect(await check(face, `${ann.accessToken}A`)).toEqual(UNVERIFIED);
    expect(await check(face, ann.refreshToken)).toEqual({ ok: false, status: 401, message: 'Invalid token' });
    await ann.rest('POST', '/auth/logout').expect(204);
    expect(await check(face, ann.accessToken)).toEqual(UNVERIFIED);
  });

  it('compares the fingerprint with that of the login', async () => {
    const ann = await app.signUp({ fingerprint: 'device 1' });
    expect(await check(face, ann.accessToken, { fingerprint: 'device 1' })).toMatchObject({ ok: true });
    for (const fingerprint of ['device 2', ''])
      expect(await check(face, ann.accessToken, { fingerprint })).toMatchObject({ message: 'Token fails security check' });
    expect(await check(face, ann.accessToken)).toMatchObject({ status: 401, message: 'Token fails security check' });
  });

  it('reports every problem of its input', async () => {
    expect(await check(face, undefined)).toMatchObject({
      status: 400,
      data: ["request body must have required property 'token'"],
    });
    expect(await check(face, { $ne: null }, { target: 5 })).toMatchObject({
      data: ['request body/token must be string', 'request body/target must be string'],
    });
    expect(await check(face, 'x'.repeat(4097))).toMatchObject({
      data: ['request body/token must NOT have more than 4096 characters'],
    });
  });
});
