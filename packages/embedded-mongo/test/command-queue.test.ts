import { expect, test } from 'vitest';
import { createCommandQueue } from '../src/command-queue.js';

test('at most the allowed number of commands run at once, in order of arrival, and a failed one frees its place', async () => {
  const enqueue = createCommandQueue(2);
  const started: number[] = [];
  const finish: ((error?: Error) => void)[] = [];
  const commands = [0, 1, 2, 3, 4].map((n) =>
    enqueue(async () => {
      started.push(n);
      await new Promise<void>((resolve, reject) => (finish[n] = (error) => (error ? reject(error) : resolve())));
    }),
  );
  expect(started).toEqual([0, 1]);
  finish[1]?.(new Error('failed'));
  await expect(commands[1]).rejects.toThrow('failed');
  expect(started).toEqual([0, 1, 2]);
  finish[2]?.();
  await commands[2];
  finish[0]?.();
  await commands[0];
  expect(started).toEqual([0, 1, 2, 3, 4]);
  for (const end of finish) end();
  await Promise.all([commands[3], commands[4]]);
});
