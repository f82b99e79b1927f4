import { FACES, UNVERIFIED, WRONG_TYPE, fixture, startTestServer, type Face } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { onetimeTokenModel } from './onetime-token.model.js';

const NOT_ADMIN = { ok: false, status: 403, message: 'Identity is not authorized to access this resource' };
const NOT_RESTORABLE = { ok: false, status: 409, message: 'One-time token cannot be restored' };
const HOUR = 60 * 60_000;

const app = fixture(startTestServer);
const second = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());
const ann = fixture(() => app.signUp());

async function generate(identityId = ann.id, more: object = {}): Promise<string> {
  const { onetimeToken } = await admin
    .rest('POST', '/auth/ott/generate', { identityId, ...more })
    .expect<{ onetimeToken: string }>(201);
  return onetimeToken;
}
const signIn = (face: Face, token: string, more: object = {}) => app.call(face, 'auth.ottLogin', { token, ...more });

describe.each(FACES)('one-time tokens over %s', (face) => {
  it('are created by an admin and sign in once', async () => {
    const made = await admin.call(face, 'auth.ottGenerate', { identityId: ann.id });
    const { onetimeToken, expiresAt } = (made as { value: { onetimeToken: string; expiresAt: string } }).value;
    expect(Math.abs(Date.parse(expiresAt) - app.clock.now().getTime() - 48 * HOUR)).toBeLessThan(60_000);

    const outcome = await signIn(face, onetimeToken);
    expect(outcome).toMatchObject({ ok: true, value: { id: ann.id } });
    const { accessToken } = (outcome as { value: { accessToken: string } }).value;
    expect(await app.call(face, 'identities.get', { identityId: ann.id }, { accessToken })).toMatchObject({ ok: true });
    expect(await signIn(face, onetimeToken)).toEqual(UNVERIFIED);
  });

  it('are used by one of twenty concurrent logins on two instances', async () => {
    const token = await generate();
    const all = Array.from({ length: 20 }, (_, at) => (at % 2 ? app : second).call(face, 'auth.ottLogin', { token }));
    const outcomes = await Promise.all(all);
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    for (const refused of outcomes.filter(({ ok }) => !ok)) expect(refused).toEqual(UNVERIFIED);
  });

  it('are invalidated and restored; used ones stay used', async () => {
    const token = await generate();
    for (const time of [1, 2])
      expect(await admin.call(face, 'auth.ottInvalidate', { token }), `time ${time}`).toEqual({ ok: true });
    expect(await signIn(face, token)).toEqual(UNVERIFIED);
    for (const time of [1, 2]) expect(await admin.call(face, 'auth.ottRestore', { token }), `time ${time}`).toEqual({ ok: true });
    expect(await signIn(face, token)).toMatchObject({ ok: true });
    expect(await admin.call(face, 'auth.ottInvalidate', { token })).toEqual({ ok: true });
    expect(await admin.call(face, 'auth.ottRestore', { token })).toEqual(NOT_RESTORABLE);
    expect(await signIn(face, token)).toEqual(UNVERIFIED);
  });

  it('can be checked, with what they carry, without being used', async () => {
    const token = await generate(ann.id, { data: { campaign: 'spring', tries: 3 } });
    for (const input of [{ token }, { token, target: 'login' }])
      expect(await app.call(face, 'auth.checkToken', input)).toEqual({
        ok: true,
        value: {
          identityId: ann.id,
          target: 'login',
          data: { campaign: 'spring', tries: 3 },
          expiresAt: expect.any(String) as string,
        },
      });
    for (const target of ['reset-password', 'no such target'])
      expect(await app.call(face, 'auth.checkToken', { token, target })).toEqual(WRONG_TYPE);
    expect(await signIn(face, token)).toMatchObject({ ok: true });
    expect(await app.call(face, 'auth.checkToken', { token })).toEqual(UNVERIFIED);
  });

  it('are created, invalidated and restored by admins only', async () => {
    const token = await generate();
    expect(await ann.call(face, 'auth.ottGenerate', { identityId: ann.id })).toEqual(NOT_ADMIN);
    expect(await ann.call(face, 'auth.ottInvalidate', { token })).toEqual(NOT_ADMIN);
    expect(await ann.call(face, 'auth.ottRestore', { token })).toEqual(NOT_ADMIN);
    const missing = { identityId: '01890000-0000-7000-8000-000000000000' };
    expect(await admin.call(face, 'auth.ottGenerate', missing)).toEqual({
      ok: false,
      status: 404,
      message: 'Identity not found',
    });
  });

  it('accept only the target login, and data of a limited size', async () => {
    const data = { text: 'x'.repeat(2000) };
    expect(await admin.call(face, 'auth.ottGenerate', { identityId: ann.id, target: 'reset-password', data })).toMatchObject({
      status: 400,
      data: [expect.stringContaining('request body/target'), 'request body/data must NOT have more than 2000 characters'],
    });
  });

  it('give the session the fingerprint of the login', async () => {
    const token = await generate();
    const outcome = await signIn(face, token, { fingerprint: 'device 1' });
    const { accessToken } = (outcome as { value: { accessToken: string } }).value;
    const get = (fingerprint?: string) => app.call(face, 'identities.get', { identityId: ann.id }, { accessToken, fingerprint });
    expect(await get('device 1')).toMatchObject({ ok: true });
    expect(await get()).toMatchObject({ status: 401, message: 'Token fails security check' });
  });
});

describe('a one-time token', () => {
  it('expires', async () => {
    await using later = await startTestServer();
    const { token } = await later.tandem.services.onetimeTokens.create({ identityId: ann.id, target: 'login' });
    later.clock.advance(48 * HOUR);
    await later.rest('POST', '/auth/ott/login', { token }).expect(401, 'token could not be verified');
  });

  it('is not stored, and cannot be derived from what is stored', async () => {
    const token = await generate();
    const { jti } = await app.tandem.services.onetimeTokens.read(token);
    const records = await app.storage.model(onetimeTokenModel).find().lean();
    expect(records.length).toBeGreaterThan(0);
    for (const secret of [jti, token]) expect(JSON.stringify(records)).not.toContain(secret);
  });

  it('is not used by a login of a locked identity, and is void after the lock', async () => {
    const bob = await app.signUp();
    const before = await generate(bob.id);
    await admin.rest('POST', `/identities/${bob.id}/lock`).expect(204);
    const after = await generate(bob.id);
    await app.rest('POST', '/auth/ott/login', { token: before }).expect(401, 'token could not be verified');
    await app.rest('POST', '/auth/ott/login', { token: after }).expect(401, 'This account is locked');
    await admin.rest('POST', `/identities/${bob.id}/unlock`).expect(204);
    await app.rest('POST', '/auth/ott/login', { token: before }).expect(401, 'token could not be verified');
    await app.rest('POST', '/auth/ott/login', { token: after }).expect(200);
  });

  it('is void after a deletion, a deactivation or an admin’s change of the email, and then cannot be restored', async () => {
    const acts: ((id: string) => Promise<unknown>)[] = [
      (id) => admin.rest('DELETE', `/identities/${id}`).expect(204),
      (id) => admin.rest('POST', '/auth/deactivate', { identityId: id }).expect(204),
      (id) => admin.rest('PATCH', `/identities/${id}`, { email: `${crypto.randomUUID()}@example.org` }).expect(200),
    ];
    for (const act of acts) {
      const bob = await app.signUp();
      const [token, invalidated] = [await generate(bob.id), await generate(bob.id)];
      await admin.rest('POST', '/auth/ott/invalidate', { token: invalidated }).expect(204);
      await act(bob.id);
      await app.rest('POST', '/auth/token/check', { token }).expect(401, 'token could not be verified');
      await app.rest('POST', '/auth/ott/login', { token }).expect(401, 'token could not be verified');
      await admin.rest('POST', '/auth/ott/restore', { token: invalidated }).expect(409, 'One-time token cannot be restored');
    }
  });

  it('survives the end of the sessions, and changes of other fields', async () => {
    const bob = await app.signUp();
    const token = await generate(bob.id);
    await admin.rest('DELETE', `/auth/${bob.id}/refresh-tokens`).expect(204);
    await admin.rest('PATCH', `/identities/${bob.id}`, { email: bob.email, emailVerified: true }).expect(200);
    await app.rest('POST', '/auth/ott/login', { token }).expect(200);
  });

  it('is removed some time after it has expired', async () => {
    await using later = await startTestServer();
    const { jti } = await later.tandem.services.onetimeTokens.create({ identityId: ann.id, target: 'login' });
    const count = () => later.storage.model(onetimeTokenModel).countDocuments({ subject: ann.id });
    expect([jti.length > 0, (await count()) > 0]).toEqual([true, true]);
    later.clock.advance((48 + 7 * 24) * HOUR + 1);
    await later.storage.sweep();
    expect(await count()).toBe(0);
  });
});
