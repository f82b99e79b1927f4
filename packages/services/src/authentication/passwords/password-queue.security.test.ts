import { FACES, startTestServer } from '@tandem/testing';
import { describe, expect, it, vi } from 'vitest';
import { BCRYPT_AT_ONCE, bcryptThreads } from './bcrypt-threads.js';
import { createPasswordQueue, type PasswordClient } from './password-queue.js';

const BUSY = { status: 503, message: 'Service Unavailable' };

/** A queue that runs one job at a time, each until it is told to end. */
function openQueue() {
  const queue = createPasswordQueue(1);
  const begun: string[] = [];
  let endOne = () => {};
  function ask(name: string, client: PasswordClient): Promise<string> {
    return queue.run(client, () => {
      begun.push(name);
      return new Promise((resolve) => (endOne = () => resolve(name)));
    });
  }
  async function runAll(): Promise<string[]> {
    for (; queue.state().running > 0; await new Promise(setImmediate)) endOne();
    return begun;
  }
  return { queue, ask, runAll };
}
const by = (ip: string, account = 'ann@example.org') => ({ ip, account });

describe('the queue of passwords', () => {
  it('serves addresses in turn, and the accounts of an address in turn', async () => {
    const { ask, runAll } = openQueue();
    const asked = [ask('first', by('198.51.100.1'))];
    for (const n of [1, 2, 3]) asked.push(ask(`flood ${n}`, by('198.51.100.1')));
    asked.push(ask('same address', by('198.51.100.1', 'bob@example.org')));
    asked.push(ask('elsewhere 1', by('2001:db8::1')), ask('elsewhere 2', by('2001:db8::2')));
    expect(await runAll()).toEqual(['first', 'flood 1', 'elsewhere 1', 'same address', 'elsewhere 2', 'flood 2', 'flood 3']);
    expect(await Promise.all(asked)).toHaveLength(7);
  });

  it('drops the newest job of the heaviest user when it is full, and accepts everybody else', async () => {
    const { queue, ask, runAll } = openQueue();
    const flood = Array.from({ length: 202 }, (_, n) => ask(`flood ${n}`, by('198.51.100.1', `nobody-${n}@example.org`)));
    await expect(flood[201]).rejects.toMatchObject(BUSY);
    const other = ask('other', by('203.0.113.1'));
    await expect(flood[200]).rejects.toMatchObject(BUSY);
    expect(queue.state()).toEqual({ running: 1, waiting: 200 });
    expect((await runAll()).slice(0, 3)).toEqual(['flood 0', 'other', 'flood 1']);
    expect(await other).toBe('other');
  });

  it('drops jobs of finished requests', async () => {
    const { ask, runAll } = openQueue();
    const over = new AbortController();
    const asked = [ask('first', by('198.51.100.1')), ask('last', by('198.51.100.1'))];
    const gone = ask('gone', { ...by('203.0.113.1'), waiting: over });
    over.abort();
    const refused = gone.catch((error: unknown) => error);
    expect(await runAll()).toEqual(['first', 'last']);
    expect(await refused).toMatchObject(BUSY);
    await Promise.all(asked);
  });
});

it.each(FACES)('over %s, nothing is hashed for a client that has left', async (face) => {
  await using busy = await startTestServer({ bcryptCost: 11 });
  const hash = vi.spyOn(bcryptThreads, 'hash');
  const state = () => busy.tandem.services.passwords.queueState();
  const register = (signal?: AbortSignal) =>
    fetch(`${busy.url}${face === 'rest' ? '/auth/register' : '/trpc/auth.register'}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: `${crypto.randomUUID()}@example.org`, password: 'a password of the tests' }),
      ...(signal && { signal }),
    });
  const others = Array.from({ length: BCRYPT_AT_ONCE }, () => register());
  await expect.poll(() => state().running, { interval: 5, timeout: 10_000 }).toBe(BCRYPT_AT_ONCE);
  const leaving = new AbortController();
  const left = register(leaving.signal).catch(() => 'gone');
  await expect.poll(() => state().waiting, { interval: 5, timeout: 10_000 }).toBe(1);
  leaving.abort();
  expect(await left).toBe('gone');
  await Promise.all(others);
  await expect.poll(state, { timeout: 10_000 }).toEqual({ running: 0, waiting: 0 });
  expect(hash).toHaveBeenCalledTimes(BCRYPT_AT_ONCE);
  hash.mockRestore();
});
