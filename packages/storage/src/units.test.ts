import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import mongoose from 'mongoose';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import {
  defineModel,
  isStoreUnavailable,
  openStorage,
  systemClock,
  type BaseRecord,
  type Fence,
  type Storage,
  type UnitSettings,
} from './index.js';

const { MongoNetworkError } = mongoose.mongo;

interface Mark extends BaseRecord {
  key: string;
}
const MarkModel = defineModel<Mark>('marks', { fields: { key: String }, softDelete: false, indexes: [] });

const { storage, clock, uri } = await openTestStorage();
const other = await openStorage({ uri, clock });
const marks = storage.model(MarkModel);
const intents = marks.db.collection('units');
afterAll(() => Promise.all([storage.close(), other.close()]));
beforeEach(() => Promise.all([marks.deleteMany(), intents.deleteMany()]));

interface Payload {
  key: string;
  at?: Date;
  records?: object[];
}
type Turn = (what: string, payload: Payload) => Promise<unknown> | undefined;
let names = 0;

/**
 * A unit of three steps, each of which makes one record; `before` is asked before each run and undo, as 'run 1' or 'undo 1'. Its steps may be
 * finished by a sweep, or no sweep finds them done.
 */
function marking(recovery: 'finish' | 'undo', before: Turn = () => undefined): UnitSettings<Payload> {
  const step = (n: number) => ({
    name: `step ${n}`,
    async run(payload: Payload) {
      await before(`run ${n}`, payload);
      await marks.updateOne({ _id: `${payload.key}-${n}` }, { key: payload.key }, { upsert: true });
    },
    async undo(payload: Payload) {
      await before(`undo ${n}`, payload);
      await marks.deleteOne({ _id: `${payload.key}-${n}` });
    },
  });
  const steps = [1, 2, 3].map((n) => ({ ...step(n), ...(recovery === 'undo' && { isDone: async () => false }) }));
  return { name: `marking ${(names += 1)}`, steps };
}

async function state() {
  return { marks: (await marks.find().sort({ _id: 1 }).lean()).map(({ _id }) => _id), intents: await intents.countDocuments() };
}
const nothing = { marks: [], intents: 0 };
const complete = { marks: ['k-1', 'k-2', 'k-3'], intents: 0 };

/** A process that never comes back from here. */
const gone = () => new Promise<never>(() => undefined);

/** Begins a unit and waits until it is about to do `what`, where it dies. */
async function dieBefore(
  what: string,
  recovery: 'finish' | 'undo',
  payload: Payload = { key: 'k' },
): Promise<UnitSettings<Payload>> {
  const settings = marking(recovery);
  await new Promise<void>((died, failed) => {
    const before: Turn = (now) => (now === what ? (died(), gone()) : undefined);
    storage
      .defineUnit({ ...marking(recovery, before), name: settings.name })
      .run(payload)
      .catch(failed);
  });
  return settings;
}

describe('a unit of work', () => {
  it('runs its steps in order and leaves no intent', async () => {
    const order: string[] = [];
    await storage.defineUnit(marking('undo', async (what) => void order.push(what))).run({ key: 'k' });
    expect(order).toEqual(['run 1', 'run 2', 'run 3']);
    expect(await state()).toEqual(complete);
  });

  it.each([1, 2, 3])('takes back every step when step %i fails, last first, and throws that error', async (failing) => {
    const order: string[] = [];
    const unit = storage.defineUnit(
      marking('finish', async (what) => {
        order.push(what);
        if (what === `run ${failing}`) throw new Error('no');
      }),
    );
    await expect(unit.run({ key: 'k' })).rejects.toThrow('no');
    expect(order.slice(failing)).toEqual([3, 2, 1].filter((n) => n <= failing).map((n) => `undo ${n}`));
    expect(await state()).toEqual(nothing);
  });

  it('is defined once', () => {
    const settings = marking('undo');
    storage.defineUnit(settings);
    expect(() => storage.defineUnit(settings)).toThrow('is defined twice');
  });
});

describe('a unit whose process died', () => {
  it.each(['run 1', 'run 2', 'run 3'])(
    'before %s is completed or taken back by the next sweep of another, once its minute is over',
    async (what) => {
      other.defineUnit(await dieBefore(what, 'finish'));
      await other.sweep();
      expect((await state()).intents).toBe(1);
      clock.advance(60_001);
      await other.sweep();
      expect(await state()).toEqual(complete);

      await marks.deleteMany();
      other.defineUnit(await dieBefore(what, 'undo'));
      clock.advance(60_001);
      await other.sweep();
      expect(await state()).toEqual(nothing);
    },
  );

  it.each(['undo 2', 'undo 1'])('before %s is taken back, also where recovery finishes', async (what) => {
    const settings = marking('finish');
    await new Promise<void>((died) => {
      const before: Turn = async (now) => {
        if (now === 'run 3') throw new Error('no');
        if (now !== what) return;
        died();
        await gone();
      };
      void storage.defineUnit({ ...marking('finish', before), name: settings.name }).run({ key: 'k' });
    });
    other.defineUnit(settings);
    clock.advance(60_001);
    await other.sweep();
    expect(await state()).toEqual(nothing);
  });

  it('is recovered with the payload as it was: dates are dates, what was undefined is absent', async () => {
    const at = clock.now();
    const settings = await dieBefore('run 2', 'finish', { key: 'k', at, note: undefined } as Payload);
    const seen: Payload[] = [];
    other.defineUnit({ ...marking('finish', async (_what, payload) => void seen.push(payload)), name: settings.name });
    clock.advance(60_001);
    await other.sweep();
    expect(seen).toEqual([
      { key: 'k', at },
      { key: 'k', at },
    ]);
    expect(seen[0]).not.toHaveProperty('note');
  });

  it('and cannot be finished is taken back', async () => {
    const settings = await dieBefore('run 3', 'finish');
    const before: Turn = async (what) => {
      if (what === 'run 3') throw new Error('taken');
    };
    other.defineUnit({ ...marking('finish', before), name: settings.name });
    clock.advance(60_001);
    await other.sweep();
    expect(await state()).toEqual(nothing);
  });

  it('and has an unknown name is left as it is', async () => {
    await dieBefore('run 2', 'finish');
    clock.advance(60_001);
    await other.sweep();
    expect(await state()).toEqual({ marks: ['k-1'], intents: 1 });
  });

  it('is recovered by one of two sweepers only', async () => {
    const settings = marking('finish');
    const died = Array.from({ length: 10 }, (_, n) => ({ key: `k${n}` }));
    const abandoned = storage.defineUnit({ ...marking('finish', gone), name: settings.name });
    for (const payload of died) abandoned.run(payload).catch(() => undefined);
    await expect.poll(() => intents.countDocuments()).toBe(10);
    const third = await openStorage({ uri, clock });
    const runs: string[] = [];
    const counted = { ...marking('finish', async (what, { key }) => void runs.push(`${key} ${what}`)), name: settings.name };
    other.defineUnit(counted);
    third.defineUnit(counted);
    clock.advance(60_001);
    await Promise.all([other.sweep(), third.sweep(), other.sweep(), third.sweep()]);
    expect(new Set(runs).size).toBe(30);
    expect(runs).toHaveLength(30);
    expect((await state()).intents).toBe(0);
    await third.close();
  });
});

/** A unit whose process stands still at `what` until it comes back. */
async function stall(what: string, settings: UnitSettings<Payload>, on = storage) {
  let comeBack = () => {};
  const away = new Promise<void>((resolve) => (comeBack = resolve));
  const stalled = await new Promise<{ run: Promise<void> }>((resolve) => {
    const before: Turn = (now) => (now === what ? (resolve({ run }), away) : undefined);
    const run = on.defineUnit({ ...marking('finish', before), name: settings.name }).run({ key: 'k' });
  });
  return { ...stalled, comeBack };
}

describe('a unit that was taken over while its process was away', () => {
  it.each(['run 1', 'run 2'])('goes no further when that comes back: %s', async (what) => {
    const settings = marking('undo');
    const { run, comeBack } = await stall(what, settings);
    other.defineUnit(settings);
    clock.advance(60_001);
    await other.sweep();
    comeBack();
    await expect(run).rejects.toSatisfy(isStoreUnavailable);
    // the one write that was on its way, and none after it
    expect(await state()).toEqual({ marks: [what.replace('run ', 'k-')], intents: 0 });
  });

  it('does not answer success when only its end was left, nor ends the work of the one who took it', async () => {
    const settings = marking('finish');
    const { run, comeBack } = await stall('run 3', settings);
    clock.advance(60_001);
    const takeover = new Promise<() => void>((resolve) => {
      const before: Turn = (what) => (what === 'run 3' ? new Promise<void>((go) => resolve(go)) : undefined);
      other.defineUnit({ ...marking('finish', before), name: settings.name });
    });
    const sweep = other.sweep();
    const go = await takeover;
    comeBack();
    await expect(run).rejects.toSatisfy(isStoreUnavailable);
    expect((await state()).intents).toBe(1);
    go();
    await sweep;
    expect(await state()).toEqual(complete);
  });

  it('writes nothing behind its fence any more, and does behind that of who took it', async () => {
    const fences: Fence[] = [];
    const settings = marking('finish');
    const [first] = settings.steps;
    const unit = (run: UnitSettings<Payload>['steps'][number]['run']) => ({
      ...settings,
      steps: [{ ...(first as object), run }] as never,
    });
    const begun = new Promise<void>((resolve) => {
      const hang = async (_: Payload, fence: Fence) => (fences.push(fence), resolve(), gone());
      void storage.defineUnit(unit(hang)).run({ key: 'k', records: [{ _id: 'copied' }] });
    });
    await begun;
    const write = ({ open }: Fence, set: string) => marks.updateOne({ _id: 'kept', ...open }, { key: set });
    await marks.create({ _id: 'kept', key: 'before' });
    const [stalled] = fences as [Fence];
    clock.advance(60_001);
    expect(await write(stalled, 'late')).toMatchObject({ matchedCount: 0 });
    await stalled.insert('marks', 'records');
    other.defineUnit(
      unit(async (_, fence) => {
        expect(await write(fence, 'in time')).toMatchObject({ matchedCount: 1 });
        await stalled.insert('marks', 'records');
        expect((await state()).marks).toEqual(['kept']);
        await fence.insert('marks', 'records');
      }),
    );
    await other.sweep();
    expect(await state()).toEqual({ marks: ['copied', 'kept'], intents: 0 });
  });
});

describe('a step that says whether it is done', () => {
  /** A unit whose second step is only asked by a sweep. */
  const asking = (name: string, isDone: boolean, order: string[]): UnitSettings<Payload> => {
    const { steps } = marking('finish', async (what) => void order.push(what));
    return { name, steps: steps.map((step, at) => (at === 1 ? { ...step, isDone: async () => isDone } : step)) };
  };

  it('is not run by a sweep, which goes on after it', async () => {
    const order: string[] = [];
    const { name } = await dieBefore('run 2', 'finish');
    other.defineUnit(asking(name, true, order));
    clock.advance(60_001);
    await other.sweep();
    expect(order).toEqual(['run 3']);
  });

  it('and is not done leaves nothing of its unit', async () => {
    const order: string[] = [];
    const { name } = await dieBefore('run 2', 'finish');
    other.defineUnit(asking(name, false, order));
    clock.advance(60_001);
    await other.sweep();
    expect(order).toEqual(['undo 2', 'undo 1']);
    expect(await state()).toEqual(nothing);
  });
});

describe('a lease', () => {
  it('runs by the time of the store, whatever the clock of a process says', async () => {
    const right = await openStorage({ uri, clock: systemClock });
    const fast = await openStorage({ uri, clock: { ...systemClock, now: () => new Date(Date.now() + 3_600_000) } });
    const settings = marking('undo');
    const { run, comeBack } = await stall('run 2', settings, right);
    fast.defineUnit(settings);
    await fast.sweep();
    comeBack();
    await run;
    expect(await state()).toEqual(complete);
    await Promise.all([right.close(), fast.close()]);
  });
});

describe('a unit of which nobody knows whether its last write took effect', () => {
  it('is left to the next sweep, and is not taken back by a sweep to which the store is away', async () => {
    const away = new MongoNetworkError('connection closed');
    const settings = marking('finish');
    const order: string[] = [];
    const failing: Turn = async (what) => {
      order.push(what);
      if (what === 'run 2') throw away;
    };
    await expect(storage.defineUnit({ ...marking('finish', failing), name: settings.name }).run({ key: 'k' })).rejects.toBe(away);
    let isAway = true;
    const third = await openStorage({ uri, clock });
    third.defineUnit({
      ...marking('finish', async (what) => (isAway ? failing(what, { key: '' }) : undefined)),
      name: settings.name,
    });
    clock.advance(60_001);
    await third.sweep();
    expect(order).toEqual(['run 1', 'run 2', 'run 2']);
    isAway = false;
    clock.advance(120_001);
    await third.sweep();
    expect(await state()).toEqual(complete);
    await third.close();
  });
});

describe('a unit that cannot be taken back now', () => {
  it('answers that it is not known what becomes of it, and is tried again later, after a growing time', async () => {
    const logged: object[] = [];
    const log = { info: () => undefined, warn: () => undefined, error: (details: object) => void logged.push(details) };
    const third: Storage = await openStorage({ uri, clock, log });
    let broken = true;
    const unit = third.defineUnit(
      marking('undo', async (what) => {
        if (what === 'run 2') throw new Error('no');
        if (what === 'undo 1' && broken) throw new Error('not now');
      }),
    );
    await expect(unit.run({ key: 'k' })).rejects.toSatisfy(isStoreUnavailable);
    expect(await state()).toEqual({ marks: ['k-1'], intents: 1 });
    for (const minutes of [1, 2, 4]) {
      const tried = logged.length;
      clock.advance(minutes * 60_000 - 1);
      await third.sweep();
      expect(logged).toHaveLength(tried);
      clock.advance(1);
      await third.sweep();
      expect(logged).toHaveLength(tried + 1);
    }
    broken = false;
    clock.advance(8 * 60_000);
    await third.sweep();
    expect(await state()).toEqual(nothing);
    await third.close();
  });
});

describe('a process killed between two steps', () => {
  it.each(['finish', 'undo'] as const)('leaves what the next sweep will %s', async (recovery) => {
    const script = fileURLToPath(new URL('../test/dying-process.js', import.meta.url));
    const killed = await promisify(execFile)(process.execPath, [script, uri, recovery]).catch((error: unknown) => error);
    expect(killed).toMatchObject({ signal: 'SIGKILL' });
    expect(await state()).toEqual({ marks: ['k-1'], intents: 1 });
    other.defineUnit({ ...marking(recovery), name: `dying ${recovery}` });
    clock.advance(Date.now() - clock.now().getTime() + 60_001);
    await other.sweep();
    expect(await state()).toEqual(recovery === 'finish' ? complete : nothing);
  });
});
