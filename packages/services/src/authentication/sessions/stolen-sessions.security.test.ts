import {
  FACES,
  NEW_PASSWORD,
  PASSWORD,
  UNUSABLE,
  UNVERIFIED,
  fixture,
  newEmail,
  startTestServer,
  type Face,
  type Outcome,
  type Person,
  type TestServer,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';

const MISSING_PASSWORD = { ok: false, status: 400, message: 'Validation Error', data: ["request body must have required property 'password'"] }; // prettier-ignore
const NOT_ADMIN = { ok: false, status: 403, message: 'Identity is not authorized to access this resource' };
const WRONG_DEVICE = { ok: false, status: 401, message: 'Token fails security check' };
/** A second is allowed; how long it takes a busy machine to ask is not what is tested here. */
const SOON = { timeout: 10_000, interval: 50 };

const app = fixture(startTestServer);
const second = fixture(() => startTestServer({ clock: app.clock }));
const admin = fixture(() => app.signUpAdmin());

const statusOf = (outcome: Outcome) => (outcome.ok ? 200 : outcome.status);
const read = (person: Person, on: TestServer) => on.call('rest', 'identities.get', { identityId: person.id }, person.credentials);

describe.each(FACES)('over %s, a stolen session', (face: Face) => {
  it('changes neither password nor email without the password, also an admin’s own', async () => {
    for (const person of [await app.signUp(), await app.signUpAdmin()]) {
      const change = (procedure: string, input: object) => person.call(face, procedure, { identityId: person.id, ...input });
      expect(await change('auth.changePassword', { newPassword: NEW_PASSWORD })).toEqual(MISSING_PASSWORD);
      expect(await change('auth.changeEmail', { email: newEmail() })).toEqual(MISSING_PASSWORD);
      for (const password of ['', null, { $ne: null }])
        expect(statusOf(await change('auth.changePassword', { password, newPassword: NEW_PASSWORD }))).toBe(400);
      await app.rest('POST', '/auth/login', { email: person.email, password: PASSWORD }).expect(200);
    }
  });

  it('makes itself no admin, no one-time token, and touches nobody else', async () => {
    const [thief, victim] = [await app.signUp(), await app.signUp()];
    const tries: [string, object][] = [
      ['identities.patch', { identityId: thief.id, typeId: 'admin' }],
      ['identities.patch', { identityId: thief.id, emailVerified: true }],
      ['identities.unlock', { identityId: thief.id }],
      ['auth.ottGenerate', { identityId: thief.id }],
      ['auth.activate', { identityId: thief.id }],
      ['auth.events', {}],
      ['auth.deactivate', { identityId: victim.id }],
      ['auth.changePassword', { identityId: victim.id, newPassword: NEW_PASSWORD }],
      ['auth.changeEmail', { identityId: victim.id, email: newEmail() }],
      ['auth.sendVerificationEmail', { identityId: victim.id }],
      ['auth.deleteRefreshTokens', { identityId: victim.id }],
      ['auth.sessions', { identityId: victim.id }],
      ['auth.identityEvents', { identityId: victim.id }],
    ];
    for (const [procedure, input] of tries) expect(await thief.call(face, procedure, { ...input }), procedure).toEqual(NOT_ADMIN);
    expect(await victim.call(face, 'identities.get', { identityId: victim.id })).toMatchObject({
      value: { email: victim.email, typeId: 'regular', deactivatedAt: null },
    });
  });

  it('is of no use on another device than its own', async () => {
    const ann = await app.signUp({ fingerprint: 'her device' });
    const { accessToken, refreshToken } = ann;
    for (const fingerprint of [undefined, '', 'another device', 'her device '.repeat(2)]) {
      const get = app.call(face, 'identities.get', { identityId: ann.id }, { accessToken, fingerprint });
      expect(await get).toEqual(WRONG_DEVICE);
      expect(await app.call(face, 'auth.refreshToken', { refreshToken }, { fingerprint })).toEqual(UNUSABLE);
    }
    expect(await app.call(face, 'auth.refreshToken', { refreshToken }, { fingerprint: 'her device' })).toMatchObject({
      ok: true,
    });
  });

  it('is seen in the list, and ended from there, with both its tokens and on every instance', async () => {
    const ann = await app.signUp();
    const thief = await app.signIn(ann.email);
    expect(statusOf(await read(thief, second))).toBe(200);
    const listed = await ann.call(face, 'auth.sessions', { identityId: ann.id });
    const { data } = (listed as { value: { data: { id: string; isCurrent: boolean }[] } }).value;
    expect(data.map(({ isCurrent }) => isCurrent)).toEqual([false, true]);
    const sessionId = data.find(({ isCurrent }) => !isCurrent)?.id;
    expect(await ann.call(face, 'auth.deleteSession', { identityId: ann.id, sessionId })).toEqual({ ok: true });
    expect(await read(thief, app)).toEqual(UNVERIFIED);
    await expect.poll(async () => statusOf(await read(thief, second)), SOON).toBe(401);
    for (const on of [app, second])
      expect(await on.call(face, 'auth.refreshToken', { refreshToken: thief.refreshToken })).toEqual(UNUSABLE);
    expect(statusOf(await read(ann, app))).toBe(200);
  });

  it('leaves nothing behind that outlives a change of the password: no session, no link, no code', async () => {
    const ann = await app.signUp();
    const thief = await app.signIn(ann.email);
    const thiefsEmail = newEmail();
    // what the password, once known, is good for
    expect(await thief.call(face, 'auth.changeEmail', { identityId: ann.id, email: thiefsEmail, password: PASSWORD })).toEqual({ ok: true }); // prettier-ignore
    expect(await thief.call(face, 'auth.sendVerificationEmail', { identityId: ann.id })).toEqual({ ok: true });
    const { token: change } = await app.mail.next(thiefsEmail);
    const renewed = await app.call(face, 'auth.refreshToken', { refreshToken: thief.refreshToken });
    const { refreshToken } = (renewed as { value: { refreshToken: string } }).value;

    expect(await ann.call(face, 'auth.changePassword', { identityId: ann.id, password: PASSWORD, newPassword: NEW_PASSWORD })).toEqual({ ok: true }); // prettier-ignore
    expect(await app.call(face, 'auth.confirmNewEmail', { token: change })).toEqual(UNVERIFIED);
    for (const on of [app, second]) {
      expect(statusOf(await on.call(face, 'auth.refreshToken', { refreshToken }))).toBe(422);
      await expect.poll(async () => statusOf(await read(thief, on)), SOON).toBe(401);
    }
    expect(await app.call(face, 'auth.login', { email: ann.email, password: NEW_PASSWORD })).toMatchObject({ ok: true });
  });
});

describe('an admin who is one no more', () => {
  const FOR_ADMINS: [string, (id: string) => object][] = [
    ['identities.list', () => ({})],
    ['identities.patch', (identityId) => ({ identityId, typeId: 'admin' })],
    ['identities.delete', (identityId) => ({ identityId })],
    ['identities.restore', (identityId) => ({ identityId })],
    ['identities.lock', (identityId) => ({ identityId })],
    ['identities.unlock', (identityId) => ({ identityId })],
    ['auth.activate', (identityId) => ({ identityId })],
    ['auth.events', () => ({})],
    ['auth.ottGenerate', (identityId) => ({ identityId })],
    ['auth.ottInvalidate', () => ({ token: 'x' })],
    ['auth.ottRestore', () => ({ token: 'x' })],
    ['auth.changePassword', (identityId) => ({ identityId, newPassword: NEW_PASSWORD })],
    ['auth.deleteRefreshTokens', (identityId) => ({ identityId })],
    ['invitations.create', () => ({ email: newEmail() })],
  ];

  it.each(['regular', 'guest'])(
    'but %s does nothing of an admin’s, at once where that was done, within a second elsewhere',
    async (typeId) => {
      const [former, victim] = [await app.signUpAdmin(), await app.signUp()];
      const list = async (on: TestServer) => statusOf(await on.call('rest', 'identities.list', {}, former.credentials));
      expect([await list(app), await list(second)]).toEqual([200, 200]);
      await admin.rest('PATCH', `/identities/${former.id}`, { typeId }).expect(200);
      for (const face of FACES)
        for (const [procedure, input] of FOR_ADMINS)
          expect(await former.call(face, procedure, { ...input(victim.id) }), procedure).toEqual(NOT_ADMIN);
      await expect.poll(() => list(second), SOON).toBe(403);
      for (const [procedure, input] of FOR_ADMINS)
        expect(await second.call('rest', procedure, { ...input(victim.id) }, former.credentials), procedure).toEqual(NOT_ADMIN);
      // nor by tokens that are made anew from what it had
      const renewed = await app
        .rest('POST', '/auth/token/refresh', { refreshToken: former.refreshToken })
        .expect<{ accessToken: string }>(200);
      expect(await app.call('rest', 'identities.list', {}, { accessToken: renewed.accessToken })).toEqual(NOT_ADMIN);
      expect(statusOf(await read(victim, app))).toBe(200);
    },
  );

  it('of many acts at the moment of it, none is done after it', async () => {
    const former = await app.signUpAdmin();
    const victims = await Promise.all(Array.from({ length: 6 }, () => app.signUp()));
    const demote = admin.rest('PATCH', `/identities/${former.id}`, { typeId: 'regular' }).expect(200);
    const acts = victims.map(({ id }) => former.rest('POST', `/identities/${id}/lock`));
    const statuses = (await Promise.all(acts)).map(({ status }) => status);
    await demote;
    for (const status of statuses) expect([204, 403]).toContain(status);
    await former.rest('POST', `/identities/${victims[0]?.id}/lock`).expect(403);
  });
});
