import { FACES, PASSWORD, UNVERIFIED, fixture, startTestServer, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const DONE = { ok: true };

const app = fixture(startTestServer);
const second = fixture(startTestServer);
const admin = fixture(() => app.signUpAdmin());

const login = (email: string, password = PASSWORD) => app.rest('POST', '/auth/login', { email, password });
const stateOf = ({ id }: Person) =>
  admin.rest('GET', `/identities/${id}`).expect<{ locked: boolean; deactivatedAt: string | null }>(200);

describe.each(FACES)('deactivation over %s', (face) => {
  it('by the identity itself ends the sessions on every instance, bars the login, and is confirmed by mail', async () => {
    const ann = await app.signUp();
    expect(await second.call(face, 'identities.get', { identityId: ann.id }, ann.credentials)).toMatchObject({ ok: true });
    expect(await ann.call(face, 'auth.deactivate', { identityId: ann.id })).toEqual(DONE);
    expect((await stateOf(ann)).deactivatedAt).toMatch(/Z$/);
    expect(await ann.call(face, 'identities.get', { identityId: ann.id })).toEqual(UNVERIFIED);
    await expect.poll(() => second.call(face, 'identities.get', { identityId: ann.id }, ann.credentials)).toEqual(UNVERIFIED);
    await app.mail.next(ann.email);
    await login(ann.email).expect(401, 'This account is locked');
    await login(ann.email, 'wrong password').expect(401, 'wrong credentials provided');
    await app.rest('POST', '/auth/token/refresh', { refreshToken: ann.refreshToken }).expect(422, 'Token was not found');
  });

  it('lasts until an admin activates the account', async () => {
    const ann = await app.signUp();
    for (const time of [1, 2])
      expect(await admin.call(face, 'auth.deactivate', { identityId: ann.id }), `time ${time}`).toEqual(DONE);
    const token = (await app.tandem.services.onetimeTokens.create({ identityId: ann.id, target: 'login' })).token;
    expect(await app.call(face, 'auth.ottLogin', { token })).toMatchObject({ status: 401, message: 'This account is locked' });
    for (const time of [1, 2])
      expect(await admin.call(face, 'auth.activate', { identityId: ann.id }), `time ${time}`).toEqual(DONE);
    expect(await stateOf(ann)).toMatchObject({ deactivatedAt: null, locked: false });
    expect(await ann.call(face, 'identities.get', { identityId: ann.id })).toEqual(UNVERIFIED);
    await login(ann.email).expect(200);
  });

  it('and a lock by an admin are independent: neither ends the other', async () => {
    const ann = await app.signUp();
    await admin.rest('POST', `/identities/${ann.id}/lock`).expect(204);
    expect(await admin.call(face, 'auth.deactivate', { identityId: ann.id })).toEqual(DONE);
    await admin.rest('POST', `/identities/${ann.id}/unlock`).expect(204);
    await login(ann.email).expect(401, 'This account is locked');
    expect(await admin.call(face, 'auth.activate', { identityId: ann.id })).toEqual(DONE);
    await login(ann.email).expect(200);
  });

  it('is allowed for the identity itself and admins, activation for admins only', async () => {
    const [ann, bob] = await Promise.all([app.signUp(), app.signUp()]);
    const refused = { ok: false, status: 403, message: 'Identity is not authorized to access this resource' };
    expect(await bob.call(face, 'auth.deactivate', { identityId: ann.id })).toEqual(refused);
    expect(await ann.call(face, 'auth.activate', { identityId: ann.id })).toEqual(refused);
    for (const identityId of [5, { $ne: null }, undefined])
      expect(await ann.call(face, 'auth.deactivate', { identityId })).toEqual(refused);
    expect(await admin.call(face, 'auth.deactivate', { identityId: 5 })).toMatchObject({ status: 400 });
    const identityId = '01890000-0000-7000-8000-000000000000';
    for (const procedure of ['auth.activate', 'auth.deactivate'])
      expect(await admin.call(face, procedure, { identityId })).toEqual({
        ok: false,
        status: 404,
        message: 'Identity not found',
      });
  });
});
