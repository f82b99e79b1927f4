import { expect, it } from 'vitest';
import { createRetries } from './patching.js';

it('a change that was overtaken waits for those of the same key alone', async () => {
  const untilDone = createRetries();
  let end = (_: string) => {};
  const ended = new Promise<string>((resolve) => (end = resolve));
  const attempts = { one: 0, same: 0, other: 0 };
  const one = untilDone('a', () => Promise.resolve(++attempts.one === 1 ? undefined : ended));
  await expect.poll(() => attempts.one).toBe(2);
  const same = untilDone('a', () => Promise.resolve(++attempts.same === 1 ? undefined : 'same'));
  expect(await untilDone('b', () => Promise.resolve(++attempts.other === 1 ? undefined : 'other'))).toBe('other');
  expect(attempts.same).toBe(1);
  end('one');
  expect([await one, await same]).toEqual(['one', 'same']);
});
