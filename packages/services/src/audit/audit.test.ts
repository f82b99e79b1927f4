import { FACES, NEW_PASSWORD, NO_ID, PASSWORD, fixture, startTestServer, type Face, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { ORIGIN, addPasskey } from '../../test/passkeys.js';
import { SECURITY_EVENT_TYPES } from './event-types.js';
import { securityEventModel } from './security-event.model.js';

const NOT_ADMIN = { ok: false, status: 403, message: 'Identity is not authorized to access this resource' };
const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

interface SecurityEvent {
  id: string;
  type: string;
  identityId: string | null;
  actorId: string | null;
  sessionId: string | null;
  ip: string | null;
  userAgent: string | null;
  requestId: string | null;
  details: Record<string, unknown>;
  createdAt: string;
}
interface EventPage {
  data: SecurityEvent[];
  metadata: { pagination: { total: number; totalPages: number } };
}

const app = fixture(() => startTestServer({ passkeyRpId: 'localhost', corsOrigins: [ORIGIN] }));
const admin = fixture(() => app.signUpAdmin());

async function list(face: Face, query: object): Promise<EventPage> {
  const outcome = await admin.call(face, 'auth.events', { ...query });
  if (!outcome.ok) throw new Error(JSON.stringify(outcome));
  return outcome.value as EventPage;
}
/** The events about an identity, oldest first, once all that is under way has been recorded. */
async function eventsOf(identityId: string, face: Face = 'rest'): Promise<SecurityEvent[]> {
  await app.tandem.services.audit.settle();
  return (await list(face, { identityId, limit: 50 })).data.toReversed();
}
const typesOf = async (identityId: string) => (await eventsOf(identityId)).map(({ type }) => type);
const sessionIdOf = async (person: Person): Promise<string> => {
  const { data } = await person.rest('GET', `/auth/${person.id}/sessions`).expect<{ data: { id: string; isCurrent: boolean }[] }>(200); // prettier-ignore
  return data.find(({ isCurrent }) => isCurrent)?.id ?? '';
};

describe.each(FACES)('an event over %s', (face) => {
  it('records what happened, to whom, by whom, in which session, from where, and when', async () => {
    const ann = await app.signUp();
    const [registered, login] = await eventsOf(ann.id, face);
    expect(registered).toEqual({
      id: expect.any(String) as string,
      type: 'registered',
      identityId: ann.id,
      actorId: ann.id,
      sessionId: null,
      ip: '127.0.0.1',
      userAgent: 'node',
      requestId: expect.any(String) as string,
      details: {},
      createdAt: expect.any(String) as string,
    });
    expect(login).toMatchObject({ type: 'login.succeeded', actorId: ann.id, sessionId: await sessionIdOf(ann) });
  });

  it("is written before the answer to an admin's action", async () => {
    const ann = await app.signUp();
    await app.tandem.services.audit.settle();
    const target = { identityId: ann.id };
    const acts: [string, object, string, object?][] = [
      ['identities.patch', { ...target, typeId: 'guest', emailVerified: true }, 'identity.changed', { typeId: 'guest' }],
      ['identities.patch', { ...target, email: `new-${ann.email}` }, 'identity.changed', { fields: ['email'] }],
      ['identities.lock', target, 'identity.locked'],
      ['identities.unlock', target, 'identity.unlocked'],
      ['auth.deleteRefreshTokens', target, 'sessions.ended'],
      ['identities.delete', target, 'identity.deleted'],
      ['identities.restore', target, 'identity.restored'],
    ];
    const by = { actorId: admin.id, sessionId: await sessionIdOf(admin) };
    for (const [procedure, input, type, details = {}] of acts) {
      expect(await admin.call(face, procedure, { ...input })).toMatchObject({ ok: true });
      const { data } = await list(face, { ...target, limit: 1 });
      expect(data).toMatchObject([{ type, identityId: ann.id, ...by, details }]);
    }
  });

  it('records failed logins, the reason, and the start of a lock; for an unknown address without an identity', async () => {
    const ann = await app.signUp();
    const login = (email: string, password: string) => app.call(face, 'auth.login', { email, password });
    for (let n = 0; n < 5; n++) await login(ann.email, 'a wrong guess');
    await login(ann.email, PASSWORD);
    const failures = (await eventsOf(ann.id, face)).slice(2);
    expect(failures.map(({ type }) => type).sort()).toEqual([...Array.from({ length: 5 }, () => 'login.failed'), 'login.locked']);
    expect(failures.find(({ type }) => type === 'login.failed')).toMatchObject({
      actorId: null,
      sessionId: null,
      details: { reason: 'wrong credentials' },
    });

    const before = (await list(face, { type: 'login.failed' })).metadata.pagination.total;
    await login(`nobody-${ann.email}`, 'a wrong guess');
    await app.tandem.services.audit.settle();
    const after = await list(face, { type: 'login.failed', limit: 1 });
    expect(after.metadata.pagination.total).toBe(before + 1);
    // an address that nobody is named with could not be erased
    expect(after.data).toMatchObject([{ identityId: null, actorId: null, ip: null, userAgent: null }]);
  });

  it('records a right password for a locked identity', async () => {
    const ann = await app.signUp();
    await admin.rest('POST', `/identities/${ann.id}/lock`).expect(204);
    await app.call(face, 'auth.login', { email: ann.email, password: PASSWORD });
    expect((await eventsOf(ann.id, face)).at(-1)).toMatchObject({ type: 'login.failed', details: { reason: 'barred' } });
  });

  it('records a passkey, and a one-time token, of a locked identity', async () => {
    const ann = await app.signUp();
    const { passkey } = await addPasskey(ann);
    await admin.rest('POST', `/identities/${ann.id}/lock`).expect(204);
    const options = await app.rest('POST', '/auth/passkeys/options').expect<{ challenge: string; rpId: string }>(200);
    await app.call(face, 'auth.passkeySignIn', { response: passkey.get(options) });
    const barred = { type: 'login.failed', details: { reason: 'barred' } };
    expect((await eventsOf(ann.id, face)).at(-1)).toMatchObject(barred);
    const { onetimeToken: token } = await admin.rest('POST', '/auth/ott/generate', { identityId: ann.id }).expect<{ onetimeToken: string }>(201); // prettier-ignore
    await app.call(face, 'auth.ottLogin', { token });
    expect((await eventsOf(ann.id, face)).filter(({ type }) => type === 'login.failed')).toMatchObject([barred, barred]);
  });

  it('records a logout once, a reused refresh token, and a session ended from the list', async () => {
    const ann = await app.signUp();
    const [left, stolen, other] = [await app.signIn(ann.email), await app.signIn(ann.email), await app.signIn(ann.email)];
    const [ofLeft, ofStolen, ofOther] = [await sessionIdOf(left), await sessionIdOf(stolen), await sessionIdOf(other)];
    for (let times = 0; times < 2; times++) await left.call(face, 'auth.logout');
    await app.call(face, 'auth.refreshToken', { refreshToken: stolen.refreshToken });
    app.clock.advance(11_000);
    expect(await app.call(face, 'auth.refreshToken', { refreshToken: stolen.refreshToken })).toMatchObject({ status: 401 });
    await ann.call(face, 'auth.deleteSession', { identityId: ann.id, sessionId: ofOther });
    expect((await eventsOf(ann.id, face)).slice(5)).toMatchObject([
      { type: 'logout', actorId: ann.id, sessionId: ofLeft },
      { type: 'refresh.reused', actorId: null, sessionId: ofStolen },
      { type: 'session.ended', actorId: ann.id, details: { sessionId: ofOther } },
    ]);
  });

  it('records the first proof of an address by a reset or an accepted invitation, and no later one', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    for (const password of [NEW_PASSWORD, `another ${NEW_PASSWORD}`]) {
      app.clock.advance(MINUTE);
      await app.rest('POST', '/auth/send-reset-password-link-email', { email: ann.email }).expect(204);
      const { token: link } = await app.mail.next(ann.email, (mail) => mail.token !== undefined);
      expect(await app.call(face, 'auth.resetPassword', { token: link, password })).toMatchObject({ ok: true });
      await admin.rest('POST', '/invitations', { email: bob.email }).expect(201);
      const { token } = await app.mail.next(bob.email);
      expect(await bob.call(face, 'invitations.accept', { token })).toMatchObject({ ok: true });
    }
    const ofAnn = ['password.reset', 'email.verified', 'password.reset'];
    expect(await typesOf(ann.id)).toEqual(['registered', 'login.succeeded', ...ofAnn]);
    const ofBob = ['email.verified', 'invitation.accepted', 'invitation.accepted'];
    expect(await typesOf(bob.id)).toEqual(['registered', 'login.succeeded', ...ofBob]);
  });

  it('is listed newest first, by type, by identity, by both, a page at a time', async () => {
    const ann = await app.signUp();
    app.clock.advance(1000);
    await app.signIn(ann.email);
    await app.tandem.services.audit.settle();
    const all = await eventsOf(ann.id, face);
    expect(all.map(({ type }) => type)).toEqual(['registered', 'login.succeeded', 'login.succeeded']);
    const [newest] = (await list(face, { limit: 1 })).data;
    expect(newest).toEqual(all[2]);
    const logins = await list(face, { identityId: ann.id, type: 'login.succeeded', limit: 1, page: 2 });
    expect(logins.data).toEqual([all[1]]);
    expect(logins.metadata.pagination).toMatchObject({ total: 2, totalPages: 2 });
    expect((await list(face, { type: 'registered', limit: 1 })).data).toEqual([all[0]]);
    expect((await list(face, { identityId: NO_ID })).data).toEqual([]);
  });

  it('is for admins; an unknown type is a 400', async () => {
    const ann = await app.signUp();
    expect(await ann.call(face, 'auth.events')).toEqual(NOT_ADMIN);
    expect(await app.call(face, 'auth.events')).toMatchObject({ status: 422 });
    const refused = await admin.call(face, 'auth.events', { type: 'lunch' });
    expect(refused).toMatchObject({
      ok: false,
      status: 400,
      data: [expect.stringContaining("query parameter 'type'") as string],
    });
  });

  it('is shown to the identity it is about, but not where others acted from', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    await admin.rest('POST', `/identities/${ann.id}/unlock`).expect(204);
    await app.call('rest', 'auth.login', { email: ann.email, password: 'a wrong guess' });
    await app.tandem.services.audit.settle();
    const outcome = await ann.call(face, 'auth.identityEvents', { identityId: ann.id });
    const [failed, unlocked, login] = (outcome as { value: EventPage }).value.data;
    expect(failed).toMatchObject({ type: 'login.failed', ip: '127.0.0.1', userAgent: 'node' });
    expect(unlocked).toMatchObject({ type: 'identity.unlocked', actorId: admin.id, sessionId: null, ip: null, userAgent: null });
    expect(login).toMatchObject({ type: 'login.succeeded', ip: '127.0.0.1', sessionId: await sessionIdOf(ann) });
    for (const $select of ['ip', 'userAgent', 'sessionId']) {
      const selected = await ann.call(face, 'auth.identityEvents', { identityId: ann.id, type: 'identity.unlocked', $select });
      expect(selected).toMatchObject({ value: { data: [{ id: unlocked?.id, [$select]: null }] } });
    }
    expect(await admin.call(face, 'auth.identityEvents', { identityId: ann.id })).toEqual(outcome);
    expect(await bob.call(face, 'auth.identityEvents', { identityId: ann.id })).toEqual(NOT_ADMIN);
    const one = await ann.call(face, 'auth.identityEvents', { identityId: ann.id, type: 'registered' });
    expect(one).toMatchObject({ value: { metadata: { pagination: { total: 1 } } } });
  });
});

it('an admin created by a command is recorded without a request', async () => {
  expect((await eventsOf(admin.id))[0]).toMatchObject({ type: 'admin.created', actorId: null, ip: null, requestId: null });
});

it('refused or ineffective actions are not recorded', async () => {
  const ann = await app.signUp();
  await app.rest('POST', '/auth/register', { email: ann.email, password: PASSWORD }).expect(422);
  await admin.rest('PATCH', `/identities/${ann.id}`, {}).expect(400);
  await admin.rest('PATCH', `/identities/${ann.id}`, { email: admin.email }).expect(409);
  await ann.rest('POST', `/identities/${ann.id}/lock`).expect(403);
  await admin.rest('DELETE', `/auth/${NO_ID}/refresh-tokens`).expect(204);
  expect(await typesOf(ann.id)).toEqual(['registered', 'login.succeeded']);
  expect(await typesOf(NO_ID)).toEqual([]);
});

it('twenty concurrent logouts of one session are one event', async () => {
  const ann = await app.signUp();
  await Promise.all(Array.from({ length: 20 }, () => ann.call('rest', 'auth.logout')));
  expect(await typesOf(ann.id)).toEqual(['registered', 'login.succeeded', 'logout']);
});

it('a closing server first finishes recording', async () => {
  const closing = await startTestServer();
  const email = `${crypto.randomUUID()}@example.org`;
  const { id } = await closing.rest('POST', '/auth/register', { email, password: PASSWORD }).expect<{ id: string }>(201);
  const guesses = Array.from({ length: 4 }, () => closing.rest('POST', '/auth/login', { email, password: 'a wrong guess' }));
  await Promise.all(guesses);
  await closing.close();
  expect((await typesOf(id)).sort()).toEqual([...Array.from({ length: 4 }, () => 'login.failed'), 'registered']);
});

it('events are removed after the configured time', async () => {
  const Events = app.storage.model(securityEventModel);
  await using brief = await startTestServer({ auditRetention: '1d', clock: app.clock });
  const [ann, bob] = [await app.signUp(), await brief.signUp()];
  await brief.tandem.services.audit.settle();
  expect([(await typesOf(ann.id)).length, (await typesOf(bob.id)).length]).toEqual([2, 2]);
  app.clock.advance(DAY + MINUTE);
  await app.storage.sweep();
  expect([await Events.countDocuments({ identityId: ann.id }), await Events.countDocuments({ identityId: bob.id })]).toEqual([
    2, 0,
  ]);
  app.clock.advance(364 * DAY);
  await app.storage.sweep();
  expect(await Events.countDocuments({ identityId: ann.id })).toBe(0);
});

it.each([
  ['all', {}, 'createdAt_-1__id_-1'],
  ['those about an identity', { identityId: NO_ID }, 'identityId_1_createdAt_-1__id_-1'],
  ['those of a type', { type: 'logout' }, 'type_1_createdAt_-1__id_-1'],
  ['those of both', { identityId: NO_ID, type: 'logout' }, '1_createdAt_-1__id_-1'],
])('listing %s reads along an index', async (_, filter, index) => {
  const { collection } = app.storage.model(securityEventModel);
  const cursor = collection.find({ ...filter, deletedAt: null } as object).sort({ createdAt: -1, _id: -1 });
  const { queryPlanner } = (await cursor.explain('queryPlanner')) as { queryPlanner: { winningPlan: object } };
  const plan = JSON.stringify(queryPlanner.winningPlan);
  expect(plan).toContain(`${index}"`);
  expect(plan).not.toContain('"stage":"SORT"');
});

it('every type of event has a unique description', () => {
  expect(new Set(SECURITY_EVENT_TYPES).size).toBe(SECURITY_EVENT_TYPES.length);
  for (const type of SECURITY_EVENT_TYPES) expect(type).toMatch(/^[a-z-]+(\.[a-z-]+)?$/);
});
