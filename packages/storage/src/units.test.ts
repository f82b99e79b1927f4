import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import { defineModel, openStorage, type BaseRecord, type Storage, type UnitSettings } from './index.js';

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
}
type Turn = (what: string, payload: Payload) => Promise<unknown> | undefined;
let names = 0;

/** A unit of three steps, each of which makes one record; `before` is asked before each run and undo, as 'run 1' or 'undo 1'. */
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
  return { name: `marking ${(names += 1)}`, recovery, steps: [step(1), step(2), step(3)] };
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

describe('a unit that was taken over while its process was away', () => {
  it('goes no further when that comes back', async () => {
    const settings = marking('undo');
    const order: string[] = [];
    let comeBack = () => {};
    const away = new Promise<void>((resolve) => (comeBack = resolve));
    const { run } = await new Promise<{ run: Promise<void> }>((resolve) => {
      const before: Turn = async (what) => {
        order.push(what);
        if (what !== 'run 2') return;
        resolve({ run });
        await away;
      };
      const run = storage.defineUnit({ ...marking('undo', before), name: settings.name }).run({ key: 'k' });
    });
    other.defineUnit(settings);
    clock.advance(60_001);
    await other.sweep();
    comeBack();
    await expect(run).rejects.toThrow('was taken over');
    expect(order).toEqual(['run 1', 'run 2']);
  });
});

describe('a unit that cannot be taken back now', () => {
  it('throws the first error, and is tried again later, after a growing time', async () => {
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
    await expect(unit.run({ key: 'k' })).rejects.toThrow('no');
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
