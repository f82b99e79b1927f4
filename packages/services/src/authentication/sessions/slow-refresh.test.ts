import {
  FACES,
  fixture,
  isCommand,
  startStoreProxy,
  startTestServer,
  type Outcome,
  type Person,
  type TestServer,
} from '@tandem/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { graceEndOf } from './exchange-ends.js';
import { sessionModel } from './session.model.js';

const REUSED = { ok: false, status: 401, message: 'refresh token reuse detected' };

/** An exchange, and the note of its end. */
const isUpdate = isCommand('sessions.update');

/** Two instances; only the way of the slow one to the store can be held up. */
const app = fixture(startTestServer);
const slowStore = fixture(() => startStoreProxy(app.mongodbUri));
const slow = fixture(() => startTestServer({ mongodbUri: slowStore.uri, clock: app.clock }));
beforeEach(() => slowStore.clear());

const sessions = () => app.storage.model(sessionModel);
const sessionOf = async ({ id }: Person) => (await sessions().findOne({ identityId: id }).lean()) ?? expect.fail('no session');
const endIsNoted = (person: Person) =>
  vi.waitFor(async () => expect((await sessionOf(person)).rotations.at(-1)?.endedAt).toBeInstanceOf(Date));

describe.each(FACES)('a second use of a refresh token over %s', (face) => {
  const refresh = (server: TestServer, { refreshToken }: Pick<Person, 'refreshToken'>): Promise<Outcome> =>
    server.call(face, 'auth.refreshToken', { refreshToken });
  /** The exchanges of both have the same successor: the newest. */
  async function expectSameSuccessor(person: Person, outcomes: Outcome[]): Promise<void> {
    const { jti, rotations } = await sessionOf(person);
    expect(outcomes).toMatchObject(outcomes.map(() => ({ ok: true })));
    expect(rotations.map(({ successor }) => successor)).toEqual([jti]);
  }

  it.each(['is written late', 'is answered late'])(
    'is none of a thief while the first exchange, which %s, is under way, nor for ten seconds after it; on both instances',
    async (how) => {
      const ann = await app.signUp();
      const exchange = slowStore.hold(isUpdate, how === 'is written late' ? 'before' : 'after');
      const first = refresh(slow, ann);
      await exchange.reached;
      app.clock.advance(12_000);
      const during = how === 'is written late' ? [] : [await refresh(app, ann), await refresh(slow, ann)];
      exchange.release();
      const outcomes = [await first, ...during];
      await endIsNoted(ann);
      app.clock.advance(7000);
      outcomes.push(await refresh(app, ann), await refresh(slow, ann));
      await expectSameSuccessor(ann, outcomes);
      app.clock.advance(3001);
      expect(await refresh(app, ann)).toEqual(REUSED);
    },
  );

  it('is none of a thief where it came within ten seconds and is carried out later: its client may have sent it again', async () => {
    const ann = await app.signUp();
    const exchange = slowStore.hold(isUpdate);
    const late = refresh(slow, ann);
    await exchange.reached;
    const again = await refresh(app, ann);
    await endIsNoted(ann);
    app.clock.advance(12_000);
    exchange.release();
    await expectSameSuccessor(ann, [again, await late]);
  });

  it('is none of a thief for 25 s after the first began, where a crash kept its end from being noted', async () => {
    const ann = await app.signUp();
    expect(await refresh(app, ann)).toMatchObject({ ok: true });
    await endIsNoted(ann);
    await sessions().collection.updateOne({ identityId: ann.id }, { $unset: { 'rotations.0.endedAt': '' } });
    app.clock.advance(20_000);
    expect(await refresh(app, ann)).toMatchObject({ ok: true });
    app.clock.advance(5001);
    expect(await refresh(app, ann)).toEqual(REUSED);
  });

  it('is theft after ten seconds on the same instance, also while the note of the end is on its way', async () => {
    const ann = await slow.signUp();
    void slowStore.seen(isUpdate);
    const note = slowStore.hold(isUpdate);
    expect(await refresh(slow, ann)).toMatchObject({ ok: true });
    await note.reached;
    app.clock.advance(10_001);
    expect(await refresh(slow, ann)).toEqual(REUSED);
    note.release();
  });
});

it.each([
  [0, undefined, 25_000],
  [0, 1, 10_001],
  [0, 15_000, 25_000],
  [0, 20_000, 25_000],
])('the grace of an exchange that began at %i and ended at %s lasts until %i', (at, endedAt, end) => {
  const ended = endedAt === undefined ? {} : { endedAt: new Date(endedAt) };
  expect(graceEndOf({ jti: '', successor: '', at: new Date(at), ...ended })).toEqual(new Date(end));
});

it('ends that come together are noted by one write', async () => {
  const [ann, ...others] = await Promise.all(Array.from({ length: 6 }, () => slow.signUp()));
  const operations: string[] = [];
  slow.storage.onOperation((name) => operations.push(name));
  const refresh = ({ refreshToken = '' }: Partial<Person> = {}) => slow.call('rest', 'auth.refreshToken', { refreshToken });
  void slowStore.seen(isUpdate);
  const note = slowStore.hold(isUpdate);
  await refresh(ann);
  await note.reached;
  await Promise.all(others.map(refresh));
  note.release();
  for (const person of others) await endIsNoted(person);
  expect(operations.filter((name) => name === 'bulkWrite')).toHaveLength(2);
});
