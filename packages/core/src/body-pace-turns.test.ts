import { describe, expect, it } from 'vitest';
import { createBodyPace } from './body-pace.js';
import type { RequestContext } from './context.js';

/** Keeps its network waiting for almost thirteen seconds. */
const LARGE = 6_180_000;
const SMALL = 64 * 1024;

/** The turns of requests to one process, by their sizes. */
function openPace(limit: number) {
  const turn = createBodyPace(limit);
  const take = (headers: Record<string, string>, ip = '192.0.2.1') => turn({ ip, headers } as unknown as RequestContext);
  return { turn, take, send: (bytes: number, ip?: string) => take({ 'content-length': String(bytes) }, ip) };
}

async function isAtOnce(turn: Promise<void>): Promise<boolean> {
  let isDone = false;
  void turn.then(() => (isDone = true));
  for (let tasks = 0; tasks < 10; tasks += 1) await Promise.resolve();
  return isDone;
}
const refused = expect.objectContaining({ status: 429, retryAfter: 3 }) as Error;

describe('the turn of a body', () => {
  it('comes at once where its network has sent nothing large before', async () => {
    const { send } = openPace(LARGE);
    expect(await isAtOnce(send(LARGE))).toBe(true);
    expect(await isAtOnce(send(LARGE, '198.51.100.1'))).toBe(true);
  });

  it('comes when the larger ones before it are paid for, and once for a request', async () => {
    const { send, turn } = openPace(LARGE);
    await send(1_100_000);
    const start = performance.now();
    const later = { ip: '192.0.2.1', headers: { 'content-length': '70000' } } as unknown as RequestContext;
    const waiting = turn(later);
    expect(turn(later)).toBe(waiting);
    expect(await isAtOnce(waiting)).toBe(false);
    await waiting;
    expect(performance.now() - start).toBeGreaterThan(200);
  });

  it('is refused, with the time after which it would not be, when it would come after more than ten seconds', async () => {
    const { send, take } = openPace(LARGE);
    await send(LARGE);
    await expect(send(LARGE)).rejects.toEqual(refused);
    await expect(send(SMALL + 1)).rejects.toEqual(refused);
    await expect(take({ 'transfer-encoding': 'chunked' })).rejects.toEqual(refused);
  });

  it('comes at once for a body of up to 64 KiB, for none, and for one that is too large to be read', async () => {
    const { send, take } = openPace(LARGE);
    expect(await isAtOnce(send(LARGE + 1))).toBe(true);
    await send(LARGE);
    for (const bytes of [0, 1, SMALL, LARGE + 1]) expect(await isAtOnce(send(bytes))).toBe(true);
    expect(await isAtOnce(take({}))).toBe(true);
  });

  it('counts a body without a length as the largest that is accepted', async () => {
    const { take, send } = openPace(LARGE);
    await take({ 'transfer-encoding': 'chunked' });
    await expect(send(SMALL + 1)).rejects.toEqual(refused);
  });
});
