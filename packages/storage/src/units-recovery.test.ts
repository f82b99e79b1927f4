import { isCommand, startStoreProxy } from '@tandem/testing/store-double';
import mongoose from 'mongoose';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { MarkModel, complete, gone, keptLog, nothing, openUnitsFixture, type Payload } from '../test/units-fixture.js';
import { isStoreUnavailable, openStorage } from './index.js';

const { storage, other, clock, clear, state, marking, dieBefore, sweepLater, ...fixture } = await openUnitsFixture();
const { marks, intents } = fixture;
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(clear);

describe('a unit whose process died', () => {
  it.each(['run 1', 'run 2', 'run 3'])(
    'before %s is completed or undone by the next sweep of another, once its minute is over',
    async (what) => {
      other.defineUnit(await dieBefore(what, 'finish'));
      await other.sweep();
      expect((await state()).intents).toBe(1);
      await sweepLater();
      expect(await state()).toEqual(complete);

      await marks.deleteMany();
      other.defineUnit(await dieBefore(what, 'undo'));
      await sweepLater();
      expect(await state()).toEqual(nothing);
    },
  );

  it.each(['undo 2', 'undo 1'])('before %s is undone, also where recovery finishes', async (what) => {
    const settings = marking('finish');
    await new Promise<void>((died) => {
      const before = async (now: string) => {
        if (now === 'run 3') throw new Error('no');
        if (now !== what) return;
        died();
        await gone();
      };
      void storage.defineUnit({ ...marking('finish', before), name: settings.name }).run({ key: 'k' });
    });
    other.defineUnit(settings);
    await sweepLater();
    expect(await state()).toEqual(nothing);
  });

  it('is recovered with its payload unchanged: dates are dates, undefined values are absent', async () => {
    const at = clock.now();
    const settings = await dieBefore('run 2', 'finish', { key: 'k', at, note: undefined } as Payload);
    const seen: Payload[] = [];
    other.defineUnit({ ...marking('finish', async (_what, payload) => void seen.push(payload)), name: settings.name });
    await sweepLater();
    expect(seen).toEqual([
      { key: 'k', at },
      { key: 'k', at },
    ]);
    expect(seen[0]).not.toHaveProperty('note');
  });

  it('that cannot be finished is undone, with a warning', async () => {
    const { name } = await dieBefore('run 3', 'finish');
    const before = async (what: string) => {
      if (what === 'run 3') throw new Error('taken');
    };
    const log = keptLog();
    const third = await fixture.open({ log });
    third.defineUnit({ ...marking('finish', before), name });
    clock.advance(60_001);
    await third.sweep();
    expect(await state()).toEqual(nothing);
    expect(log.lines).toMatchObject([
      ['warn', { unit: name, err: { message: 'taken' } }],
      ['info', { unit: name }],
    ]);
  });

  it('with an unknown name is left alone, with a warning', async () => {
    const log = keptLog();
    const third = await fixture.open({ log });
    const { name } = await dieBefore('run 2', 'finish');
    await third.sweep();
    expect(log.lines).toEqual([]);
    clock.advance(60_001);
    await third.sweep();
    expect(await state()).toEqual({ marks: ['k-1'], intents: 1 });
    expect(log.lines).toEqual([['warn', { units: [name] }]]);
  });

  it('is recovered by only one of two sweepers', async () => {
    const settings = marking('finish');
    const died = Array.from({ length: 10 }, (_, n) => ({ key: `k${n}` }));
    const abandoned = storage.defineUnit({ ...marking('finish', gone), name: settings.name });
    for (const payload of died) abandoned.run(payload).catch(() => undefined);
    await expect.poll(() => intents.countDocuments()).toBe(10);
    const third = await fixture.open();
    const runs: string[] = [];
    const counted = { ...marking('finish', async (what, { key }) => void runs.push(`${key} ${what}`)), name: settings.name };
    other.defineUnit(counted);
    third.defineUnit(counted);
    clock.advance(60_001);
    await Promise.all([other.sweep(), third.sweep(), other.sweep(), third.sweep()]);
    expect(new Set(runs).size).toBe(30);
    expect(runs).toHaveLength(30);
    expect((await state()).intents).toBe(0);
  });
});

describe('a unit whose last write has an unknown outcome', () => {
  it('is left to the next sweep, and is not undone by a sweep that cannot reach the store', async () => {
    const away = new mongoose.mongo.MongoNetworkError('connection closed');
    const { name } = marking('finish');
    const order: string[] = [];
    let isAway = true;
    const failing = async (what: string) => {
      if (!isAway) return;
      order.push(what);
      if (what === 'run 2') throw away;
    };
    const unit = { ...marking('finish', failing), name };
    await expect(storage.defineUnit(unit).run({ key: 'k' })).rejects.toBe(away);
    other.defineUnit(unit);
    await sweepLater();
    expect(order).toEqual(['run 1', 'run 2', 'run 2']);
    isAway = false;
    clock.advance(60_000);
    await sweepLater();
    expect(await state()).toEqual(complete);
  });
});

it('a unit that writes more than the store has time for is gone on with every minute', async () => {
  const outOfTime = { ok: 0, code: 50, codeName: 'MaxTimeMSExpired', errmsg: 'operation exceeded time limit' };
  const { name } = await dieBefore('run 2', 'finish');
  await using proxy = await startStoreProxy(fixture.uri);
  const third = await openStorage({ uri: proxy.uri, clock, log: keptLog() });
  let tries = 0;
  const through = third.model(MarkModel);
  const writing = async (what: string) => {
    if (what !== 'run 2') return;
    tries += 1;
    await through.updateOne({ _id: 'k-1' }, { key: 'k' });
  };
  third.defineUnit({ ...marking('finish', writing), name });
  void proxy.answer(isCommand('marks.update'), outOfTime, 4);
  const sweep = async (minutes: number) => {
    clock.advance(minutes * 60_001);
    await third.sweep();
  };
  for (let minute = 1; minute <= 4; minute++) {
    await sweep(1);
    expect(tries).toBe(minute);
  }
  // another failure begins with a short delay
  void proxy.cut(isCommand('marks.update'), 'before');
  await sweep(1);
  expect(tries).toBe(5);
  await sweep(2);
  expect(await state()).toEqual(complete);
  await third.close();
});

describe('a unit that cannot be undone now', () => {
  it('answers that its outcome is unknown, and is retried later, after a growing delay', async () => {
    const log = keptLog();
    const third = await fixture.open({ log });
    let broken = true;
    const settings = marking('undo', async (what) => {
      if (what === 'run 2') throw new Error('no');
      if (what === 'undo 1' && broken) throw new Error('not now');
    });
    const running = third.defineUnit(settings).run({ key: 'k' });
    await expect(running).rejects.toMatchObject({ cause: { message: 'no' } });
    await expect(running).rejects.toSatisfy(isStoreUnavailable);
    expect(await state()).toEqual({ marks: ['k-1'], intents: 1 });
    for (const [tries, minutes] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
      clock.advance(minutes * 60_000 - 1);
      await third.sweep();
      expect(log.lines).toHaveLength(tries + 1);
      clock.advance(1);
      await third.sweep();
      expect(log.lines).toHaveLength(tries + 2);
    }
    const failures = log.lines.map((_, attempts) => ['error', { unit: settings.name, attempts, err: { message: 'not now' } }]);
    expect(log.lines).toMatchObject(failures);
    broken = false;
    clock.advance(3_600_000);
    await third.sweep();
    expect(await state()).toEqual(nothing);
  });
});
