import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedMongo, type EmbeddedMongo } from '@tandem/embedded-mongo';
import { PASSWORD, openStream, startServerProcess, type ServerProcess } from '@tandem/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ANSWERED_MS, LOAD_ENVIRONMENT, failuresOf, startLoad } from './load.js';
import { notifierOf } from './notifier.js';

const MINUTE_MS = 60_000;
/** Interval between checks of the server, in milliseconds. */
const LOOK_MS = 1000;
/** Longest time for answers that need no database, on a busy machine, in milliseconds. */
const SOON_MS = 2000;
/** Longest time for the readiness check, in milliseconds. */
const READY_MS = 5000;
const PATIENCE = { timeout: 30_000, interval: 200 };
/** Acknowledged requests before and after. */
const SOME = 200;

let dir: string;
let engine: EmbeddedMongo;
let enginePid: number;
let server: ServerProcess;
async function startEngine(): Promise<void> {
  engine = await startEmbeddedMongo({ dir, onEvent: (event) => void (event.type === 'started' && (enginePid = event.pid)) });
}
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'tandem-faults-'));
  await startEngine();
  server = await startServerProcess({ MONGODB_URI: engine.uri, LOG_LEVEL: 'info', ...LOAD_ENVIRONMENT });
});
afterEach(async () => {
  await server.kill();
  await engine.stop();
  await rm(dir, { recursive: true, maxRetries: 20, retryDelay: 50 });
});

/** The status of one of the server's own paths, and how long that took. */
async function lookAt(pathname: string): Promise<{ status: number; milliseconds: number }> {
  const start = performance.now();
  const { status } = await fetch(server.url + pathname);
  return { status, milliseconds: performance.now() - start };
}
/** A person who listens to a channel of their own. */
async function listen() {
  const email = `${crypto.randomUUID()}@example.org`;
  await server.rest('POST', '/auth/register', { email, password: PASSWORD }).expect(201);
  const me = await server
    .rest('POST', '/auth/login', { email, password: PASSWORD })
    .expect<{ id: string; accessToken: string }>(200);
  const channel = await server.rest('POST', '/channels', { name: 'Tea', ownerId: me.id }, me).expect<{ id: string }>(201);
  const stream = await openStream(server.url, `/messages/listen?channelId=${channel.id}`, me);
  await stream.next('subscribed');
  return {
    stream,
    post: (clientId: string) => stream.send({ type: 'message.create', channelId: channel.id, content: clientId, clientId }),
  };
}

/** The database's outages: name, duration, and how each begins and ends. */
const OUTAGES: [name: string, milliseconds: number, goAway: () => unknown, comeBack: () => unknown][] = [
  ['hangs for a minute', MINUTE_MS, () => process.kill(enginePid, 'SIGSTOP'), () => process.kill(enginePid, 'SIGCONT')],
  ['is gone for a minute', MINUTE_MS, () => engine.stop(), () => startEngine()],
];

describe('a database', () => {
  it.each(OUTAGES)(
    'that %s costs no acknowledged write and no stream: every request is answered in time, and everything continues when it is back',
    async (_, awayMs, goAway, comeBack) => {
      const { stream, post } = await listen();
      await using notifier = await notifierOf(engine.uri);
      await using load = await startLoad(() => server, notifier);
      await load.acknowledged(SOME);

      await goAway();
      const until = Date.now() + awayMs;
      post('while it is away');
      await stream.next('error', ({ clientId }: { clientId?: string }) => clientId === 'while it is away');
      stream.send({ type: 'ping' });
      await stream.next('pong');
      for (let looks = 0; Date.now() < until; looks++) {
        const [live, ready] = await Promise.all([lookAt('/health/live'), lookAt('/health/ready')]);
        expect([live.status, ready.status], `look ${looks}`).toEqual([200, looks === 0 ? ready.status : 503]);
        expect(live.milliseconds).toBeLessThan(SOON_MS);
        expect(ready.milliseconds).toBeLessThan(READY_MS);
        await delay(LOOK_MS);
      }
      await comeBack();
      await expect.poll(async () => (await lookAt('/health/ready')).status, PATIENCE).toBe(200);

      await load.acknowledged(SOME);
      post('when it is back');
      await stream.next('ack', ({ clientId }: { clientId: string }) => clientId === 'when it is back');
      await stream.close();
      await load.stop();
      await load.verify();
      expect(failuresOf(server)).toEqual([]);
      expect(load.refusals()).toEqual([503]);
      expect(load.slowest()).toBeLessThan(ANSWERED_MS);
    },
  );
});
