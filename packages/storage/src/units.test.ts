import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { complete, nothing, openUnitsFixture, type Payload } from '../test/units-fixture.js';
import { isStoreUnavailable, type UnitSettings } from './index.js';

const { storage, other, clear, state, marking, dieBefore, sweepLater, ...fixture } = await openUnitsFixture();
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(clear);

describe('a unit of work', () => {
  it('runs its steps in order and leaves no intent', async () => {
    const order: string[] = [];
    await storage.defineUnit(marking('undo', async (what) => void order.push(what))).run({ key: 'k' });
    expect(order).toEqual(['run 1', 'run 2', 'run 3']);
    expect(await state()).toEqual(complete);
  });

  it('costs a write before each step, and one at the end', async () => {
    const unit = storage.defineUnit(marking('undo'));
    const writes: string[] = [];
    storage.onWrite((collection) => writes.push(collection));
    await unit.run({ key: 'k' });
    expect(writes).toEqual(['units', 'marks', 'units', 'marks', 'units', 'marks', 'units']);
  });

  it.each([1, 2, 3])('undoes every step when step %i fails, last first, and throws that error', async (failing) => {
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

  it('of an id is begun once the earlier one of that id is settled, by a sweep if its process has died', async () => {
    const settings = marking('undo');
    const unit = storage.defineUnit(settings);
    await unit.run({ key: 'k' }, 'one');
    await expect(storage.expectSettled('one')).resolves.toBeUndefined();
    await clear();
    let resume = (): void => {};
    const reached = new Promise<void>((begun) => {
      const stalling = marking('undo', async (what) => {
        if (what !== 'run 2') return;
        begun();
        await new Promise<void>((go) => (resume = go));
      });
      const stalled = storage.defineUnit(stalling);
      other.defineUnit({ ...marking('undo'), name: stalling.name });
      stalled.run({ key: 'k' }, 'one').catch(() => undefined);
    });
    await reached;
    await expect(unit.run({ key: 'k' }, 'one')).rejects.toSatisfy(isStoreUnavailable);
    await expect(storage.expectSettled('one')).rejects.toSatisfy(isStoreUnavailable);
    await unit.run({ key: 'another' }, 'another');
    await sweepLater();
    await unit.run({ key: 'k' }, 'one');
    resume();
    expect((await state()).intents).toBe(0);
  });

  it('is defined once, and known by its name', () => {
    const settings = marking('undo');
    storage.defineUnit(settings);
    expect(storage.unitNames()).toContain(settings.name);
    expect(() => storage.defineUnit(settings)).toThrow('is defined twice');
  });
});

describe('a step with isDone', () => {
  /** A unit whose second step a sweep only asks. */
  const asking = (name: string, isDone: boolean, order: string[]): UnitSettings<Payload> => {
    const { steps } = marking('finish', async (what) => void order.push(what));
    return { name, steps: steps.map((step, at) => (at === 1 ? { ...step, isDone: async () => isDone } : step)) };
  };

  it('is not run by a sweep, which continues after it', async () => {
    const order: string[] = [];
    const { name } = await dieBefore('run 2', 'finish');
    other.defineUnit(asking(name, true, order));
    await sweepLater();
    expect(order).toEqual(['run 3']);
  });

  it('that was not done leaves nothing of its unit', async () => {
    const order: string[] = [];
    const { name } = await dieBefore('run 2', 'finish');
    other.defineUnit(asking(name, false, order));
    await sweepLater();
    expect(order).toEqual(['undo 2', 'undo 1']);
    expect(await state()).toEqual(nothing);
  });
});
