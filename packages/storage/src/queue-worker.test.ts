import { afterEach, expect, it, vi } from 'vitest';
import { createQueueWorker } from './index.js';

/** Longer than any of these tests. */
const NEVER = 3_600_000;

/** A queue of rows in memory. Each row stays in progress until it is finished. */
function openQueue(rows: string[]) {
  const queue = { rows, log: [] as string[], failures: [] as unknown[], claims: 0, collected: 0, down: false };
  const inProgress = new Map<string, () => void>();
  const worker = createQueueWorker<string>({
    collect: async () => void (queue.collected += 1),
    async claim() {
      queue.claims += 1;
      await Promise.resolve();
      if (queue.down) throw new Error('down');
      return queue.rows.shift();
    },
    async handle(row) {
      queue.log.push(row);
      await new Promise<void>((finish) => inProgress.set(row, finish));
      inProgress.delete(row);
    },
    onFailure: (error) => queue.failures.push(error),
  });
  const finish = (row: string) => inProgress.get(row)?.();
  const finishAll = () => {
    for (const row of inProgress.keys()) finish(row);
  };
  /** Finishes rows until the promise is settled. */
  async function untilDone<T>(promise: Promise<T>): Promise<T> {
    const timer = setInterval(finishAll, 1);
    return promise.finally(() => clearInterval(timer));
  }
  return Object.assign(queue, { worker, inProgress, finish, untilDone });
}

const stops: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(stops.splice(0).map((stop) => stop())));

/** Whether a promise is settled once all that is ready has run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol('open');
  await new Promise(setImmediate);
  return (await Promise.race([promise, Promise.resolve(open)])) !== open;
}

it('works on all rows that are due, four at once at most, and waits for them', async () => {
  const queue = openQueue(['a', 'b', 'c', 'd', 'e']);
  const work = queue.worker.work();
  await vi.waitFor(() => expect(queue.log).toEqual(['a', 'b', 'c', 'd']));
  expect(await isSettled(work)).toBe(false);
  expect(queue.inProgress.size).toBe(4);
  queue.finish('b');
  await vi.waitFor(() => expect(queue.log).toContain('e'));
  await queue.untilDone(work);
  expect(queue.inProgress.size).toBe(0);
});

it('collects before it claims', async () => {
  const queue = openQueue([]);
  await queue.worker.work();
  expect([queue.collected, queue.claims]).toEqual([1, 1]);
});

it('rejects when the queue cannot be reached', async () => {
  const queue = openQueue(['a']);
  queue.down = true;
  await expect(queue.worker.work()).rejects.toThrow('down');
  expect(queue.failures).toEqual([]);
});

it('is woken only while it is started', async () => {
  const queue = openQueue(['a']);
  queue.worker.wake();
  await new Promise(setImmediate);
  expect(queue.claims).toBe(0);
  const stop = queue.worker.start(NEVER);
  await vi.waitFor(() => expect(queue.log).toEqual(['a']));
  queue.finish('a');
  await vi.waitFor(() => expect(queue.inProgress.size).toBe(0));
  queue.rows.push('b');
  queue.worker.wake();
  await vi.waitFor(() => expect(queue.log).toEqual(['a', 'b']));
  await queue.untilDone(stop());
  queue.rows.push('c');
  queue.worker.wake();
  await new Promise(setImmediate);
  expect(queue.rows).toEqual(['c']);
});

it('looks again for a row that was added while it found none', async () => {
  const queue = openQueue([]);
  stops.push(queue.worker.start(NEVER));
  await vi.waitFor(() => expect(queue.claims).toBe(1));
  // the claim under way may have passed the new row
  queue.worker.wake();
  await vi.waitFor(() => expect(queue.claims).toBeGreaterThan(1));
});

it('polls, and reports what fails in the background', async () => {
  const queue = openQueue([]);
  queue.down = true;
  stops.push(queue.worker.start(5));
  await vi.waitFor(() => expect(queue.failures.length).toBeGreaterThan(1));
  expect(queue.failures[0]).toEqual(new Error('down'));
  queue.down = false;
  queue.rows.push('a');
  await vi.waitFor(() => expect(queue.log).toEqual(['a']));
  queue.finish('a');
});

it('reports what fails when it is woken', async () => {
  const queue = openQueue([]);
  stops.push(queue.worker.start(NEVER));
  await vi.waitFor(() => expect(queue.claims).toBe(1));
  await new Promise(setImmediate);
  queue.down = true;
  queue.worker.wake();
  await vi.waitFor(() => expect(queue.failures).toHaveLength(1));
});

it('stops after the rows in progress, claims no others, and starts again', async () => {
  const queue = openQueue(['a', 'b', 'c', 'd', 'e']);
  const stop = queue.worker.start(NEVER);
  await vi.waitFor(() => expect(queue.log).toHaveLength(4));
  const stopped = stop();
  expect(stop()).toBe(stopped);
  expect(await isSettled(stopped)).toBe(false);
  await queue.untilDone(stopped);
  expect(queue.rows).toEqual(['e']);
  const again = queue.worker.start(NEVER);
  await vi.waitFor(() => expect(queue.log).toContain('e'));
  await queue.untilDone(again());
});

it('goes on until the last of those that started it has stopped it', async () => {
  const queue = openQueue([]);
  const [first, second] = [queue.worker.start(NEVER), queue.worker.start(NEVER)];
  await first();
  queue.rows.push('a');
  queue.worker.wake();
  await vi.waitFor(() => expect(queue.log).toEqual(['a']));
  await queue.untilDone(second());
  queue.rows.push('b');
  queue.worker.wake();
  await new Promise(setImmediate);
  expect(queue.rows).toEqual(['b']);
});
