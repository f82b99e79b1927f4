import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { complete, gone, nothing, openUnitsFixture, type Payload } from '../test/units-fixture.js';
import { isStoreUnavailable, systemClock, type Fence } from './index.js';

const { storage, other, clock, clear, state, marking, stall, sweepLater, ...fixture } = await openUnitsFixture();
const { marks } = fixture;
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(clear);

describe('a unit that was taken over while its process stalled', () => {
  it.each(['run 1', 'run 2'])('goes no further when the process resumes: %s', async (what) => {
    const settings = marking('undo');
    const { run, comeBack } = await stall(what, settings);
    other.defineUnit(settings);
    await sweepLater();
    comeBack();
    await expect(run).rejects.toSatisfy(isStoreUnavailable);
    // the one write already sent, and none after it
    expect(await state()).toEqual({ marks: [what.replace('run ', 'k-')], intents: 0 });
  });

  it('does not report success when only its end was left, nor end the new owner’s work', async () => {
    const settings = marking('finish');
    const { run, comeBack } = await stall('run 3', settings);
    clock.advance(60_001);
    const takeover = new Promise<() => void>((resolve) => {
      const before = (what: string) => (what === 'run 3' ? new Promise<void>((go) => resolve(go)) : undefined);
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

  it('writes nothing more behind its fence, while the new owner does', async () => {
    const { name, steps } = marking('finish');
    const fencing = (run: (payload: Payload, fence: Fence) => Promise<unknown>) => ({
      name,
      steps: steps.slice(0, 1).map((step) => ({ ...step, run })),
    });
    const stalled = await new Promise<Fence>((begun) => {
      const unit = storage.defineUnit(fencing((_, fence) => (begun(fence), gone())));
      void unit.run({ key: 'k', records: [{ _id: 'copied' }] });
    });
    await marks.create({ _id: 'kept', key: 'before' });
    const matches = async ({ open }: Fence) => (await marks.updateOne({ _id: 'kept', ...open }, { key: 'after' })).matchedCount;
    const written: string[] = [];
    other.onWrite((collection) => written.push(collection));
    const seen: unknown[] = [];
    async function look(fence: Fence): Promise<void> {
      seen.push(await matches(fence));
      await fence.insert('marks', 'records');
      seen.push((await state()).marks);
    }
    clock.advance(60_001);
    await look(stalled);
    other.defineUnit(
      fencing(async (_, fence) => {
        await look(stalled);
        written.splice(0);
        await look(fence);
        seen.push([...written]);
      }),
    );
    await other.sweep();
    expect(seen).toEqual([0, ['kept'], 0, ['kept'], 1, ['copied', 'kept'], ['marks']]);
    expect((await state()).intents).toBe(0);
  });
});

describe('a lease', () => {
  it('has a minute for each step: until then its fenced writes succeed', async () => {
    const { name, steps } = marking('finish');
    const open: number[] = [];
    const slow = steps.map((step) => ({
      ...step,
      async run(payload: Payload, fence: Fence) {
        await step.run(payload, fence);
        clock.advance(40_000);
        open.push((await marks.updateOne({ _id: 'k-1', ...fence.open }, { key: 'slow' })).matchedCount);
      },
    }));
    await storage.defineUnit({ name, steps: slow }).run({ key: 'k' });
    expect(open).toEqual([1, 1, 1]);
    expect(await state()).toEqual(complete);
  });

  it('is not resumed by its own process after the lease has expired, even if nobody has taken it', async () => {
    const settings = marking('undo');
    const { run, comeBack } = await stall('run 1', settings);
    clock.advance(60_001);
    comeBack();
    await expect(run).rejects.toSatisfy(isStoreUnavailable);
    expect(await state()).toEqual({ marks: ['k-1'], intents: 1 });
    other.defineUnit(settings);
    await other.sweep();
    expect(await state()).toEqual(nothing);
  });

  it('measures by the store’s time, whatever a process’s clock says', async () => {
    const right = await fixture.open({ clock: systemClock });
    const fast = await fixture.open({ clock: { ...systemClock, now: () => new Date(Date.now() + 3_600_000) } });
    const settings = marking('undo');
    const { run, comeBack } = await stall('run 2', settings, right);
    fast.defineUnit(settings);
    await fast.sweep();
    comeBack();
    await run;
    expect(await state()).toEqual(complete);
  });
});
