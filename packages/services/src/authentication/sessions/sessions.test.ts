import { FACES, NO_ID, OK, fixture, startTestServer, type Face, type Person } from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { sessionModel } from './session.model.js';

const MISSING = { ok: false, status: 404, message: 'Session not found' };
const NOT_ADMIN = { ok: false, status: 403, message: 'Identity is not authorized to access this resource' };
const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

interface Session {
  id: string;
  ip: string;
  userAgent: string;
  isCurrent: boolean;
  createdAt: string;
  lastUsedAt: string;
  expiresAt: string;
}
interface SessionPage {
  data: Session[];
  metadata: { pagination: { total: number; totalPages: number; hasNext: boolean } };
}

const app = fixture(startTestServer);
const second = fixture(() => startTestServer({ clock: app.clock }));
const admin = fixture(() => app.signUpAdmin());

async function list(face: Face, caller: Person, identityId = caller.id, query: object = {}): Promise<SessionPage> {
  const outcome = await caller.call(face, 'auth.sessions', { identityId, ...query });
  if (!outcome.ok) throw new Error(JSON.stringify(outcome));
  return outcome.value as SessionPage;
}
const end = (face: Face, caller: Person, identityId: string, sessionId: string) =>
  caller.call(face, 'auth.deleteSession', { identityId, sessionId });
async function sessionOf(person: Person): Promise<Session> {
  const { data } = await list('rest', person);
  return data.find(({ isCurrent }) => isCurrent) as Session;
}
async function statusOf(person: Person, server = app): Promise<number> {
  return (await server.rest('GET', `/identities/${person.id}`, undefined, person.credentials)).status;
}

describe.each(FACES)('the sessions of an identity over %s', (face) => {
  it('show device, address and times, and nothing of their tokens', async () => {
    const ann = await app.signUp({ fingerprint: 'device 1' });
    const { data } = await list(face, ann);
    expect(data).toHaveLength(1);
    const [session] = data as [Session];
    expect(Object.keys(session).sort()).toEqual(['createdAt', 'expiresAt', 'id', 'ip', 'isCurrent', 'lastUsedAt', 'userAgent']);
    expect(session).toMatchObject({ ip: '127.0.0.1', userAgent: 'node', isCurrent: true });
    const [used, expires] = [session.lastUsedAt, session.expiresAt].map(
      (time) => Date.parse(time) - Date.parse(session.createdAt),
    );
    expect(Math.abs(used as number)).toBeLessThan(MINUTE);
    expect(Math.abs((expires as number) - 14 * DAY)).toBeLessThan(MINUTE);
  });

  it('are listed newest first, a page at a time, the caller’s own marked', async () => {
    const ann = await app.signUp();
    app.clock.advance(1000);
    const other = await app.signIn(ann.email);
    const [newest, oldest] = [await list(face, ann, ann.id, { limit: 1 }), await list(face, ann, ann.id, { limit: 1, page: 2 })];
    expect(newest.metadata.pagination).toMatchObject({ total: 2, totalPages: 2, hasNext: true });
    expect([newest.data, oldest.data].map(([one]) => [one?.id, one?.isCurrent])).toEqual([
      [(await sessionOf(other)).id, false],
      [(await sessionOf(ann)).id, true],
    ]);
  });

  it('say when the refresh token was last exchanged', async () => {
    const ann = await app.signUp();
    const before = await sessionOf(ann);
    app.clock.advance(MINUTE);
    await app.rest('POST', '/auth/token/refresh', { refreshToken: ann.refreshToken }).expect(200);
    const { data } = await list(face, ann);
    const [after] = data as [Session];
    expect(after).toMatchObject({ id: before.id, createdAt: before.createdAt });
    expect(Date.parse(after.lastUsedAt) - Date.parse(before.lastUsedAt)).toBeGreaterThanOrEqual(MINUTE);
    expect(Date.parse(after.expiresAt)).toBeGreaterThan(Date.parse(before.expiresAt));
  });

  it('are for oneself and the admin, for whom none is the current one', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    expect(await bob.call(face, 'auth.sessions', { identityId: ann.id })).toEqual(NOT_ADMIN);
    expect((await list(face, admin, ann.id)).data).toEqual([{ ...(await sessionOf(ann)), isCurrent: false }]);
    expect(await app.call(face, 'auth.sessions', { identityId: ann.id })).toMatchObject({ status: 422 });
    expect((await list(face, admin, NO_ID)).data).toEqual([]);
  });

  it('are only those that live: none of an ended epoch, none that has expired, none of a locked identity', async () => {
    const ann = await app.signUp();
    const Sessions = app.storage.model(sessionModel);
    const ended = (await sessionOf(ann)).id;
    const row = await Sessions.findById(ended).lean();
    await ann.rest('DELETE', `/auth/${ann.id}/refresh-tokens`).expect(204);
    // as a crash leaves it: ended, and its record still there
    await Sessions.collection.insertOne(row as never);
    expect((await list(face, admin, ann.id)).data).toEqual([]);
    expect(await end(face, admin, ann.id, ended)).toEqual(MISSING);

    const again = await app.signIn(ann.email);
    await Sessions.updateOne({ _id: (await sessionOf(again)).id }, { expiresAt: app.clock.now() });
    expect((await list(face, admin, ann.id)).data).toEqual([]);

    const bob = await app.signUp();
    await admin.rest('POST', `/identities/${bob.id}/lock`).expect(204);
    expect((await list(face, admin, bob.id)).metadata.pagination.total).toBe(0);
  });
});

describe.each(FACES)('ending one session over %s', (face) => {
  it('stops its tokens at once and leaves the others', async () => {
    const ann = await app.signUp();
    const other = await app.signIn(ann.email);
    expect(await end(face, ann, ann.id, (await sessionOf(other)).id)).toEqual(OK);
    expect([await statusOf(ann), await statusOf(other)]).toEqual([200, 401]);
    await app.rest('POST', '/auth/token/refresh', { refreshToken: other.refreshToken }).expect(422, 'Token was not found');
    expect((await list(face, ann)).data).toHaveLength(1);
  });

  it('may be the caller’s own, and an admin may end anybody’s', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const [ofAnn, ofBob] = [await sessionOf(ann), await sessionOf(bob)];
    expect(await end(face, ann, ann.id, ofAnn.id)).toEqual(OK);
    expect(await end(face, admin, bob.id, ofBob.id)).toEqual(OK);
    expect([await statusOf(ann), await statusOf(bob)]).toEqual([401, 401]);
  });

  it('is 404 for one that is missing, has ended or is another identity’s, and 403 below another’s path', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const ofBob = await sessionOf(bob);
    expect(await end(face, ann, ann.id, NO_ID)).toEqual(MISSING);
    expect(await end(face, ann, ann.id, ofBob.id)).toEqual(MISSING);
    expect(await end(face, admin, ann.id, ofBob.id)).toEqual(MISSING);
    expect(await end(face, ann, bob.id, ofBob.id)).toEqual(NOT_ADMIN);
    expect(await statusOf(bob)).toBe(200);
    expect(await end(face, admin, bob.id, ofBob.id)).toEqual(OK);
    expect(await end(face, admin, bob.id, ofBob.id)).toEqual(MISSING);
    expect(await end(face, ann, ann.id, 'no-uuid')).toMatchObject({
      status: 400,
      data: ['path parameter \'sessionId\' must match format "uuid"'],
    });
  });

  it('is done by one of twenty at once, the others are 404', async () => {
    const ann = await app.signUp();
    const { id } = await sessionOf(await app.signIn(ann.email));
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => end(face, ann, ann.id, id)));
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    expect(outcomes.filter(({ ok }) => !ok)).toEqual(Array.from({ length: 19 }, () => MISSING));
  });
});

it('an ended session’s access token stops within a second on another instance', async () => {
  const ann = await app.signUp();
  const other = await app.signIn(ann.email);
  const { id } = await sessionOf(other);
  expect(await statusOf(other, second)).toBe(200);
  await ann.rest('DELETE', `/auth/${ann.id}/sessions/${id}`).expect(204);
  await expect.poll(() => statusOf(other, second), { timeout: 1500, interval: 50 }).toBe(401);
  expect(await statusOf(ann, second)).toBe(200);
});

it('the list is read along an index', async () => {
  const ann = await app.signUp();
  const live = { identityId: ann.id, epoch: 0, expiresAt: { $gt: app.clock.now() }, deletedAt: null };
  const cursor = app.storage
    .model(sessionModel)
    .collection.find(live as object)
    .sort({ createdAt: -1, _id: -1 });
  const { queryPlanner } = (await cursor.explain('queryPlanner')) as { queryPlanner: { winningPlan: object } };
  const plan = JSON.stringify(queryPlanner.winningPlan);
  expect(plan).toContain('"indexName":"identityId_1_createdAt_-1__id_-1"');
  expect(plan).not.toContain('"stage":"SORT"');
});
