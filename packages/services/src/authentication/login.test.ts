import { FACES, PASSWORD, fixture, startTestServer, type Face } from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const WRONG = { ok: false, status: 401, message: 'wrong credentials provided' };
const LOCKED = { ok: false, status: 401, message: 'This account is locked' };

const app = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());

const login = (face: Face, email: string, password = PASSWORD, more: object = {}) =>
  app.call(face, 'auth.login', { email, password, ...more });

describe.each(FACES)('login over %s', (face) => {
  it('answers the id and both tokens', async () => {
    const ann = await app.signUp();
    const outcome = await login(face, ann.email);
    expect(outcome).toMatchObject({ ok: true, value: { id: ann.id } });
    const { value } = outcome as { value: Record<string, string> };
    expect(Object.keys(value).sort()).toEqual(['accessToken', 'id', 'refreshToken']);
    expect(await app.call(face, 'identities.get', { identityId: ann.id }, { accessToken: value.accessToken })).toMatchObject({ ok: true }); // prettier-ignore
  });

  it('starts a separate session each time', async () => {
    const ann = await app.signUp();
    const again = await app.signIn(ann.email);
    await again.call(face, 'auth.logout');
    expect(await ann.call(face, 'identities.get', { identityId: ann.id })).toMatchObject({ ok: true });
  });

  it('answers the same to an unknown address and to a wrong password', async () => {
    const ann = await app.signUp();
    expect(await login(face, `nobody-${crypto.randomUUID()}@example.org`)).toEqual(WRONG);
    expect(await login(face, 'no address at all')).toEqual(WRONG);
    expect(await login(face, ann.email, 'wrong password')).toEqual(WRONG);
  });

  it('never accepts a password that only matches in its first 72 bytes', async () => {
    const email = `${crypto.randomUUID()}@example.org`;
    const password = crypto.randomUUID() + crypto.randomUUID();
    await app.rest('POST', '/auth/register', { email, password }).expect(201);
    for (const longer of [`${password}x`, `${password}\0`, password + 'y'.repeat(900)])
      expect(await login(face, email, longer)).toEqual(WRONG);
    expect(await login(face, email, `${password.slice(0, 71)}\0`)).toEqual(WRONG);
    expect(await login(face, email, password)).toMatchObject({ ok: true });
  });

  it('accepts strings only, and reports every problem', async () => {
    expect(await app.call(face, 'auth.login', { email: { $ne: null }, password: ['a'], fingerprint: 5, foo: 1 })).toEqual({
      ok: false,
      status: 400,
      message: 'Validation Error',
      data: [
        'request body/email must be string',
        'request body/password must be string',
        'request body/fingerprint must be string',
        "request body must NOT have additional properties: 'foo'",
      ],
    });
    expect(await login(face, 'ann@example.org', PASSWORD, { fingerprint: 'f'.repeat(513) })).toMatchObject({
      data: ['request body/fingerprint must NOT have more than 512 characters'],
    });
    expect(await login(face, 'ann@example.org', PASSWORD, { fingerprint: '' })).toMatchObject({ status: 400 });
    expect(await app.call(face, 'auth.login', {})).toMatchObject({
      data: ["request body must have required property 'email'", "request body must have required property 'password'"],
    });
  });

  it('answers locked to the right password of a locked identity, and wrong credentials to a wrong one; no login clears the lock', async () => {
    const ann = await app.signUp();
    await admin.rest('POST', `/identities/${ann.id}/lock`).expect(204);
    for (let round = 0; round < 2; round++) {
      expect(await login(face, ann.email)).toEqual(LOCKED);
      expect(await login(face, ann.email, 'wrong password')).toEqual(WRONG);
    }
    expect(await admin.call(face, 'identities.get', { identityId: ann.id })).toMatchObject({ value: { locked: true } });
    await admin.rest('POST', `/identities/${ann.id}/unlock`).expect(204);
    expect(await login(face, ann.email)).toMatchObject({ ok: true });
  });

  it('finds no deleted identity, but a restored one', async () => {
    const ann = await app.signUp();
    await admin.rest('DELETE', `/identities/${ann.id}`).expect(204);
    expect(await login(face, ann.email)).toEqual(WRONG);
    await admin.rest('POST', `/identities/${ann.id}/restore`).expect(200);
    expect(await login(face, ann.email)).toMatchObject({ ok: true });
  });

  it('lets one account sign in on many devices at once', async () => {
    const ann = await app.signUp();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => login(face, ann.email)));
    expect(outcomes.every(({ ok }) => ok)).toBe(true);
  });
});
