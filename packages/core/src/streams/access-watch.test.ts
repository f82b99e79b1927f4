import { describe, expect, it } from 'vitest';
import type { Identity } from '../context.js';
import { createAccessWatch, type Watched } from './access-watch.js';

type Ended = ReadonlySet<string>;

/** A watch with a clock and a store of its own, which keeps what it asked and logged. */
function openWatch(answer: (sessionIds: string[]) => Ended | Promise<Ended> = () => new Set()) {
  const asked: string[][] = [];
  const identities: (readonly Identity[])[] = [];
  const warnings: unknown[] = [];
  const time = { ms: 5000, readings: 0, read: () => {} };
  const watch = createAccessWatch({
    clock: {
      now() {
        time.readings += 1;
        time.read();
        return new Date(time.ms);
      },
    },
    log: { debug() {}, info() {}, error() {}, warn: (facts, text) => void warnings.push([facts, text]) },
    async findEnded(given: readonly Identity[]) {
      const sessionIds = given.map(({ sessionId }) => sessionId);
      asked.push(sessionIds);
      identities.push(given);
      return await answer(sessionIds);
    },
  });
  /** Ends with the next check of this watch. */
  const nextCheck = () => new Promise<void>((resolve) => (time.read = resolve));
  return { ...watch, asked, identities, warnings, time, nextCheck };
}

/** A stream of an identity, whose access expires at this second. */
function newStream(id: string, sessionId = `session of ${id}`, expiresAt = 1000) {
  const reasons: string[] = [];
  let tell = () => {};
  const over = new Promise<void>((resolve) => (tell = resolve));
  const access = { identity: { id, typeId: 'regular', sessionId }, fingerprintHash: undefined, expiresAt };
  return { access, reasons, over, ended: (reason: string) => (reasons.push(reason), tell()) } satisfies Watched & {
    reasons: string[];
    over: Promise<void>;
  };
}
const settled = () => new Promise((next) => setImmediate(next));

describe('the watch over the access of streams', () => {
  it('ends a stream in the second in which its access token expires, and not before', async () => {
    const watch = openWatch();
    const [expired, valid] = [newStream('ann', 'a', 5), newStream('ann', 'b', 6)];
    watch.add(expired);
    watch.add(valid);
    await expired.over;
    expect([expired.reasons, valid.reasons]).toEqual([['expired'], []]);
    watch.time.ms = 6000;
    await valid.over;
    expect(valid.reasons).toEqual(['expired']);
  });

  it('asks about a session as one with a factor as soon as one of its streams was opened with it', async () => {
    const watch = openWatch();
    const [without, enrolled] = [newStream('ann'), newStream('ann')];
    watch.add(without);
    watch.add({ ...enrolled, access: { ...enrolled.access, identity: { ...enrolled.access.identity, hasFactor: true } } });
    watch.add(newStream('ann'));
    await watch.nextCheck();
    await settled();
    expect(watch.identities.at(-1)).toMatchObject([{ id: 'ann', hasFactor: true }]);
  });

  it('ends all streams of a session that has ended, once, and no others', async () => {
    const ended = new Set<string>(['session of nobody']);
    const watch = openWatch(() => ended);
    const [first, second, other] = [newStream('ann', 'a'), newStream('ann', 'a'), newStream('bob', 'b')];
    for (const stream of [first, second, other]) watch.add(stream);
    ended.add('a');
    await Promise.all([first.over, second.over]);
    ended.add('b');
    await other.over;
    expect([first.reasons, second.reasons, other.reasons]).toEqual([['revoked'], ['revoked'], ['revoked']]);
    expect(watch.asked.slice(0, 2)).toEqual([['a', 'b'], ['b']]);
    expect(watch.warnings).toEqual([]);
  });

  it('checks the sessions of one identity at once when it is told to', async () => {
    const watch = openWatch((sessionIds) => new Set(sessionIds));
    const [first, second, other] = [newStream('ann', 'a'), newStream('ann', 'b'), newStream('bob', 'c')];
    for (const stream of [first, second, other]) watch.add(stream);
    watch.checkIdentity('nobody');
    expect(watch.asked).toEqual([]);
    watch.checkIdentity('ann');
    await settled();
    expect(watch.asked).toEqual([['a', 'b']]);
    expect([first.reasons, second.reasons, other.reasons]).toEqual([['revoked'], ['revoked'], []]);
    watch.remove(other);
  });

  it('checks one session at once when it is told to', async () => {
    const watch = openWatch((sessionIds) => new Set(sessionIds));
    const [own, other] = [newStream('ann', 'a'), newStream('ann', 'b')];
    watch.add(own);
    watch.add(other);
    watch.checkSession('unknown');
    watch.checkSession('a');
    await settled();
    expect([watch.asked, own.reasons, other.reasons]).toEqual([[['a']], ['revoked'], []]);
    watch.remove(other);
  });

  it('looks up a thousand sessions in a query', async () => {
    const watch = openWatch((sessionIds) => new Set(sessionIds));
    const streams = Array.from({ length: 2000 }, (_, n) => newStream('ann', `s${n}`));
    for (const stream of streams) watch.add(stream);
    watch.checkIdentity('ann');
    await Promise.all(streams.map(({ over }) => over));
    await settled();
    expect(watch.asked.map((batch) => [batch.length, batch[0]])).toEqual([[1000, 's0'], [1000, 's1000']]); // prettier-ignore
  });

  it('ends nothing when a look-up fails, logs it, and asks again at the next check', async () => {
    let isAway = true;
    const watch = openWatch((sessionIds) => {
      if (isAway) throw new Error('away from "ann"');
      return new Set(sessionIds);
    });
    const stream = newStream('ann');
    watch.add(stream);
    await watch.nextCheck();
    await settled();
    expect(stream.reasons).toEqual([]);
    expect(watch.warnings).toMatchObject([
      [{ err: { message: 'away from …' } }, 'the sessions of open streams could not be looked up'],
    ]);
    isAway = false;
    await stream.over;
    expect(stream.reasons).toEqual(['revoked']);
  });

  it('waits for the answer of a look-up before the next, while tokens still expire', async () => {
    let answer = (_ended: Ended) => {};
    const watch = openWatch(() => new Promise((resolve) => (answer = resolve)));
    const [waiting, expiring] = [newStream('ann', 'a'), newStream('bob', 'b', 6)];
    watch.add(waiting);
    watch.add(expiring);
    await watch.nextCheck();
    watch.time.ms = 6000;
    await expiring.over;
    await settled();
    expect(watch.asked).toEqual([['a', 'b']]);
    answer(new Set());
    await watch.nextCheck();
    await settled();
    expect(watch.asked.slice(1)).toEqual([['a']]);
    answer(new Set(['a']));
    await waiting.over;
  });
});

describe('a stream that is no longer watched', () => {
  it('is not ended; others of its session are', async () => {
    const watch = openWatch((sessionIds) => new Set(sessionIds));
    const [gone, other] = [newStream('ann'), newStream('ann')];
    watch.add(gone);
    watch.add(other);
    watch.remove(gone);
    watch.remove(gone);
    watch.remove(newStream('ann'));
    watch.remove(newStream('bob'));
    watch.remove({ access: undefined, ended() {} });
    await other.over;
    expect([gone.reasons, other.reasons]).toEqual([[], ['revoked']]);
  });

  it('leaves no session to look up, while other sessions are still checked', async () => {
    const watch = openWatch((sessionIds) => new Set(sessionIds));
    const [gone, other] = [newStream('ann', 'a'), newStream('ann', 'b')];
    watch.add(gone);
    watch.add(other);
    watch.remove(gone);
    await other.over;
    expect(watch.asked).toEqual([['b']]);
  });

  it('was the last one: the checks stop, until another is watched', async () => {
    const [watch, beside] = [openWatch(), openWatch()];
    const [gone, next, ofBeside] = [newStream('ann'), newStream('ann'), newStream('bob')];
    watch.add(gone);
    await watch.nextCheck();
    watch.remove(gone);
    const { readings } = watch.time;
    beside.add(ofBeside);
    await beside.nextCheck();
    await beside.nextCheck();
    expect(watch.time.readings).toBe(readings);
    watch.add(next);
    await watch.nextCheck();
    watch.remove(next);
    beside.remove(ofBeside);
  });
});
