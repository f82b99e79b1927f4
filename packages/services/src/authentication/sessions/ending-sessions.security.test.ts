import { FACES, OK, PASSWORD, fixture, startTestServer, type Face, type Person, type TestServer } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { IDENTITY_CHANGED } from '../../identities/identity-changes.js';
import { sessionModel } from './session.model.js';

const NOBODY = '01890000-0000-7000-8000-000000000000';
const NO_DEVICE = { ip: '', userAgent: '', fingerprintHash: undefined };

const app = fixture(startTestServer);
const second = fixture(() => startTestServer({ clock: app.clock }));
const admin = fixture(() => app.signUpAdmin());

/** The status that the person's access token gets. */
async function statusOf(person: Pick<Person, 'id' | 'credentials'>, server = app): Promise<number> {
  return (await server.rest('GET', `/identities/${person.id}`, undefined, person.credentials)).status;
}
/** A second is allowed, and a little for the machine. */
const SOON = { timeout: 1500, interval: 50 };

const endings: [string, (person: Person, face: Face) => Promise<unknown>][] = [
  ['a lock', (person, face) => admin.call(face, 'identities.lock', { identityId: person.id })],
  ['a deletion', (person, face) => admin.call(face, 'identities.delete', { identityId: person.id })],
  ['DELETE refresh-tokens', (person, face) => person.call(face, 'auth.deleteRefreshTokens', { identityId: person.id })],
  ['an admin’s DELETE refresh-tokens', (person, face) => admin.call(face, 'auth.deleteRefreshTokens', { identityId: person.id })],
];

describe.each(FACES)('ending the sessions of an identity over %s:', (face) => {
  it.each(endings)('%s stops all its access tokens at once', async (_, end) => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const other = await app.signIn(ann.email);
    expect([await statusOf(ann), await statusOf(other)]).toEqual([200, 200]);
    expect(await end(ann, face)).toEqual(OK);
    expect([await statusOf(ann), await statusOf(other), await statusOf(bob)]).toEqual([401, 401, 200]);
    await expect.poll(() => app.storage.model(sessionModel).countDocuments({ identityId: ann.id })).toBe(0);
  });

  it('an unlock or a restore revives none of them; the next login works', async () => {
    const ann = await app.signUp();
    await admin.call(face, 'identities.lock', { identityId: ann.id });
    await admin.call(face, 'identities.unlock', { identityId: ann.id });
    await admin.call(face, 'identities.delete', { identityId: ann.id });
    await admin.call(face, 'identities.restore', { identityId: ann.id });
    expect(await statusOf(ann)).toBe(401);
    expect(await statusOf(await app.signIn(ann.email))).toBe(200);
  });
});

describe('on another instance, within a second,', () => {
  it('the access tokens of locked, deleted, ended and signed-out identities stop, and no others', async () => {
    const logout: (typeof endings)[number][1] = (person, face) => person.call(face, 'auth.logout');
    const all = [...endings.map(([, end]) => end), logout];
    const people = await Promise.all(all.map(() => app.signUp()));
    const bob = await app.signUp();
    const statuses = () => Promise.all(people.map((person) => statusOf(person, second)));
    expect(await statuses()).toEqual(all.map(() => 200));

    await Promise.all(all.map((end, n) => end(people[n] as Person, 'rest')));

    await expect.poll(statuses, SOON).toEqual(all.map(() => 401));
    expect(await statusOf(bob, second)).toBe(200);
  });

  it('a change of type applies to existing access tokens; on this instance at once', async () => {
    const ann = await app.signUp();
    const lists = async (server: TestServer) => (await server.call('rest', 'identities.list', {}, ann.credentials)).ok;
    for (const [typeId, may] of [
      ['admin', true],
      ['regular', false],
    ] as const) {
      // prettier-ignore
      expect([await lists(app), await lists(second)]).toEqual([!may, !may]);
      await admin.call('rest', 'identities.patch', { identityId: ann.id, typeId });
      expect(await lists(app)).toBe(may);
      await expect.poll(() => lists(second), SOON).toBe(may);
    }
  });
});

describe.each(FACES)('DELETE refresh-tokens over %s', (face) => {
  const remove = (person: Person, identityId: string) => person.call(face, 'auth.deleteRefreshTokens', { identityId });

  it('is for admins and oneself, which is checked before the id', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const refused = { ok: false, status: 403, message: 'Identity is not authorized to access this resource' };
    for (const id of [bob.id, NOBODY, 'no-uuid']) expect(await remove(ann, id)).toEqual(refused);
    expect(await statusOf(bob)).toBe(200);
    expect(await app.call(face, 'auth.deleteRefreshTokens', { identityId: 'no-uuid' })).toMatchObject({ status: 422 });
    expect(await remove(admin, 'no-uuid')).toMatchObject({
      status: 400,
      data: ['path parameter \'identityId\' must match format "uuid"'],
    });
  });

  it('answers the same when there is nothing to end', async () => {
    const ann = await app.signUp();
    for (let times = 0; times < 2; times++) expect(await remove(admin, ann.id)).toEqual(OK);
    expect(await remove(admin, NOBODY)).toEqual(OK);
  });
});

describe('a login concurrent with the end of all sessions', () => {
  it.each([
    ['lock', (id: string) => admin.rest('POST', `/identities/${id}/lock`)],
    ['deletion', (id: string) => admin.rest('DELETE', `/identities/${id}`)],
  ])('leaves no session over after the %s', async (_, end) => {
    for (let round = 0; round < 3; round++) {
      const { id, email } = await app.signUp();
      const logins = Array.from({ length: 4 }, () => app.call('rest', 'auth.login', { email, password: PASSWORD }));
      const [outcomes] = await Promise.all([Promise.all(logins), end(id).expect(204)]);
      for (const refused of outcomes.filter(({ ok }) => !ok)) expect(refused).toMatchObject({ status: 401 });
      for (const outcome of outcomes.filter((one) => one.ok))
        expect(await statusOf({ id, credentials: outcome.value as { accessToken: string } })).toBe(401);
    }
  });

  it('that read the epoch before it starts a session that is never valid', async () => {
    const ann = await app.signUp();
    const { sessions, identities } = app.tandem.services;
    const before = await identities.credentialsOf({ email: ann.email });
    await identities.endSessions(ann.id);
    const late = await sessions.start(ann.id, before?.sessionEpoch ?? 0, NO_DEVICE);
    expect(await statusOf({ id: ann.id, credentials: late })).toBe(401);
    await app.rest('POST', '/auth/token/refresh', { refreshToken: late.refreshToken }).expect(422, 'Token was not found');
    await app.rest('POST', '/auth/token/check', { token: late.accessToken }).expect(401, 'token could not be verified');
  });

  it('that comes after it starts a session that stays valid, even if an instance hears of the end late', async () => {
    const ann = await app.signUp();
    const heard: object[] = [];
    const stop = app.tandem.bus.subscribe(IDENTITY_CHANGED, (event) => heard.push(event));
    await ann.rest('DELETE', `/auth/${ann.id}/refresh-tokens`).expect(204);
    stop();
    const again = await app.signIn(ann.email);
    for (const event of heard) second.tandem.bus.publish(IDENTITY_CHANGED, event);
    const Sessions = app.storage.model(sessionModel);
    await expect.poll(() => Sessions.countDocuments({ identityId: ann.id })).toBe(1);
    expect([heard.length, await statusOf(again), await statusOf(again, second)]).toEqual([1, 200, 200]);
  });
});
