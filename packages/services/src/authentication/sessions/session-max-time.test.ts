import {
  FACES,
  UNUSABLE,
  UNVERIFIED,
  cookiesOf,
  fixture,
  startTestServer,
  type Face,
  type Person,
  type TestServer,
} from '@tandem/testing';
import { describe, expect, it } from 'vitest';
import { sessionModel, type SessionRecord } from './session.model.js';

const DAY = 24 * 3600_000;
const HOUR = 3600_000;

const refresh = (app: TestServer, face: Face, refreshToken: string) => app.call(face, 'auth.refreshToken', { refreshToken });
async function renew(app: TestServer, face: Face, refreshToken: string): Promise<{ accessToken: string; refreshToken: string }> {
  const outcome = await refresh(app, face, refreshToken);
  expect(outcome).toMatchObject({ ok: true });
  return (outcome as unknown as { value: { accessToken: string; refreshToken: string } }).value;
}
const isUsable = async (app: TestServer, face: Face, person: Person, accessToken: string) =>
  app.call(face, 'identities.get', { identityId: person.id }, { accessToken });
async function recordOf(app: TestServer, { id }: Person): Promise<SessionRecord> {
  const record = await app.storage.model(sessionModel).findOne({ identityId: id }).lean<SessionRecord>();
  if (!record) throw new Error('no session');
  return record;
}

describe.each(FACES)('a session over %s', (face) => {
  it('ends 90 days after its sign-in, however often it is refreshed, and none of its tokens counts then', async () => {
    await using app = await startTestServer();
    const ann = await app.signUp();
    let pair: { accessToken: string; refreshToken: string } = ann;
    for (let day = 10; day <= 80; day += 10) {
      app.clock.advance(10 * DAY);
      pair = await renew(app, face, pair.refreshToken);
    }
    app.clock.advance(10 * DAY - 10 * 60_000);
    const last = await renew(app, face, pair.refreshToken);
    expect(await isUsable(app, face, ann, last.accessToken)).toMatchObject({ ok: true });
    const record = await recordOf(app, ann);
    expect(record.expiresAt.getTime()).toBe(record.createdAt.getTime() + 90 * DAY);

    // 15 and 10 minutes: the access token would live for longer
    app.clock.advance(10 * 60_000);

    expect(await isUsable(app, face, ann, last.accessToken)).toEqual(UNVERIFIED);
    for (const { refreshToken } of [last, pair]) expect(await refresh(app, face, refreshToken)).toEqual(UNUSABLE);
    expect(await app.signIn(ann.email)).toMatchObject({ id: ann.id });
  });

  it('that began before there was such a time, or under a longer one, ends by it too, and is listed no longer', async () => {
    await using longer = await startTestServer({ lifetimes: { sessionMaxTime: '90d' } });
    await using app = await startTestServer({ lifetimes: { sessionMaxTime: '1d' }, clock: longer.clock });
    const ann = await longer.signUp();
    longer.clock.advance(23 * HOUR);
    const pair = await renew(longer, face, ann.refreshToken);
    const shown = await longer.call(face, 'auth.sessions', { identityId: ann.id }, { accessToken: pair.accessToken });
    expect(shown).toMatchObject({ ok: true, value: { data: [{ isCurrent: true }] } });
    longer.clock.advance(2 * HOUR);
    const other = await app.signIn(ann.email);
    const later = await renew(longer, face, pair.refreshToken);
    expect(await isUsable(longer, face, ann, later.accessToken)).toMatchObject({ ok: true });
    expect(await isUsable(app, face, ann, later.accessToken)).toEqual(UNVERIFIED);
    expect(await refresh(app, face, later.refreshToken)).toEqual(UNUSABLE);
    const left = await other.call(face, 'auth.sessions', { identityId: ann.id });
    expect(left).toMatchObject({ ok: true, value: { data: [{ isCurrent: true }] } });
  });

  it('that has ended by the store is refused, although a copy says that it lives', async () => {
    await using app = await startTestServer();
    const { collection } = app.storage.model(sessionModel);
    const past = new Date(app.clock.now().getTime() - 1);
    for (const change of [{ expiresAt: past }, { createdAt: new Date(past.getTime() - 90 * DAY) }]) {
      const ann = await app.signUp();
      expect(await isUsable(app, face, ann, ann.accessToken)).toMatchObject({ ok: true });
      await collection.updateOne({ identityId: ann.id }, { $set: change });
      expect(await refresh(app, face, ann.refreshToken)).toEqual(UNUSABLE);
    }
  });
});

it.each(FACES)('a session whose record has expired has ended, although its access token would count, over %s', async (face) => {
  await using app = await startTestServer();
  const ann = await app.signUp();
  const past = new Date(app.clock.now().getTime() - 1);
  await app.storage.model(sessionModel).collection.updateOne({ identityId: ann.id }, { $set: { expiresAt: past } });
  expect(await isUsable(app, face, ann, ann.accessToken)).toEqual(UNVERIFIED);
});

describe('the refresh token', () => {
  const app = fixture(startTestServer);

  it('of an exchange, and the record of its session, live for 14 days from it', async () => {
    const ann = await app.signUp();
    app.clock.advance(13 * DAY);
    const before = app.clock.now().getTime();
    const pair = await renew(app, 'rest', ann.refreshToken);
    const { lastUsedAt, expiresAt } = await recordOf(app, ann);
    expect(lastUsedAt.getTime()).toBeGreaterThanOrEqual(before);
    expect(expiresAt.getTime() - lastUsedAt.getTime()).toBe(14 * DAY);
    app.clock.advance(13 * DAY);
    await app.storage.sweep();
    await renew(app, 'rest', pair.refreshToken);
  });

  it('that is used again lives no longer than the one that the first exchange gave', async () => {
    const ann = await app.signUp();
    await renew(app, 'rest', ann.refreshToken);
    app.clock.advance(8000);
    const again = await renew(app, 'rest', ann.refreshToken);
    app.clock.advance(14 * DAY - 5000);
    expect(await refresh(app, 'rest', again.refreshToken)).toEqual(UNUSABLE);
  });

  it('of 20 exchanges ago still gets its successor within the grace; the one before is theft', async () => {
    const [ann, bob] = [await app.signUp(), await app.signUp()];
    const tokens = new Map<Person, string[]>();
    for (const [person, exchanges] of [
      [ann, 20],
      [bob, 21],
    ] as const) {
      const used = [person.refreshToken];
      for (let n = 0; n < exchanges; n++) used.push((await renew(app, 'rest', used.at(-1) ?? '')).refreshToken);
      tokens.set(person, used);
      expect((await recordOf(app, person)).rotations).toHaveLength(20);
      // they are all of the last ten seconds, however slow the machine is
      const { collection } = app.storage.model(sessionModel);
      const now = app.clock.now();
      await collection.updateOne({ identityId: person.id }, { $set: { 'rotations.$[].at': now, 'rotations.$[].endedAt': now } });
    }
    expect(await refresh(app, 'rest', tokens.get(ann)?.[0] ?? '')).toMatchObject({ ok: true });
    expect(await refresh(app, 'rest', tokens.get(bob)?.[1] ?? '')).toMatchObject({ ok: true });
    expect(await refresh(app, 'rest', tokens.get(bob)?.[0] ?? '')).toEqual({
      ok: false,
      status: 401,
      message: 'refresh token reuse detected',
    });
  });
});

it('in cookie mode no cookie outlives the session', async () => {
  await using app = await startTestServer({ authModes: { auth: 'cookie' }, lifetimes: { sessionMaxTime: '1h' } });
  const ann = await app.signUp();
  app.clock.advance(50 * 60_000);
  const answer = await app.rest('POST', '/auth/token/refresh', undefined, {
    headers: { cookie: `refreshToken=${ann.refreshToken}` },
  });
  expect(Object.keys(cookiesOf(answer))).toEqual(['accessToken', 'refreshToken']);
  const ages = answer.headers.getSetCookie().map((text) => Number(/Max-Age=(\d+)/.exec(text)?.[1]));
  for (const age of ages) {
    expect(age).toBeLessThanOrEqual(600);
    expect(age).toBeGreaterThan(500);
  }
});
