import { openRedis } from '@tandem/drivers/redis';
import { HAS_REDIS, startRedis, startTestServer, type RedisServer, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const HOUR = 3600;
/** Logins that an address may attempt. */
const POINTS = 3;
/** No request waits for Redis: generous for a busy machine, and far below the request's deadline. */
const SOON_MS = 5000;
/** Time to notice that Redis is down or back. */
const PATIENCE = { timeout: 20_000, interval: 100 };

let redis: RedisServer;
let app: TestServer;
let second: TestServer;
beforeAll(async () => {
  if (!HAS_REDIS) return;
  redis = await startRedis();
  const config = { redisUrl: redis.url, trustProxy: 1, rateLimits: { login: { perAddress: [POINTS, HOUR] } } } as const;
  app = await startTestServer(config);
  second = await startTestServer({ ...config, clock: app.clock });
});
afterAll(async () => {
  await Promise.all([app?.close(), second?.close()]);
  await redis?.close();
});

let lastAddress = 0;
const newAddress = () => `198.18.${++lastAddress >> 8}.${lastAddress & 255}`;
async function statusOf(server: TestServer, address: string): Promise<number> {
  const start = performance.now();
  const body = { email: `${crypto.randomUUID()}@example.org`, password: 'a wrong guess' };
  const { status } = await server.rest('POST', '/auth/login', body, { headers: { 'x-forwarded-for': address } });
  expect(performance.now() - start).toBeLessThan(SOON_MS);
  return status;
}
async function statusesOf(server: TestServer, address: string, count: number): Promise<number[]> {
  const statuses = [];
  for (let n = 0; n < count; n++) statuses.push(await statusOf(server, address));
  return statuses;
}
/**
 * The second instance's answer to an address that has used up its points at the first: 429 while they share their
 * counts.
 */
async function saidBySecond(): Promise<number> {
  const address = newAddress();
  await statusesOf(app, address, POINTS);
  return statusOf(second, address);
}
/** Outages in the log, without the reports of their end. */
function outages(server: TestServer): number {
  const count = (text: string) => server.logs().split(text).length - 1;
  return count('Redis is away') - count('Redis is back');
}

describe.skipIf(!HAS_REDIS)('two instances with one Redis (skipped where there is no redis-server)', () => {
  it('share a limit', async () => {
    await expect.poll(saidBySecond, PATIENCE).toBe(429);
    async function passingAtOnce(): Promise<number> {
      const address = newAddress();
      const both = Array.from({ length: 10 }, (_, n) => statusOf(n % 2 === 0 ? app : second, address));
      return (await Promise.all(both)).filter((status) => status === 401).length;
    }
    // a second attempt, in case the machine was so busy that Redis seemed down
    await expect.poll(passingAtOnce, PATIENCE).toBe(POINTS);
  });

  it('store neither address nor email in it, and nothing for ever', async () => {
    await statusOf(app, '198.19.255.254');
    const reader = openRedis(redis.url);
    await reader.verify();
    const keys = await reader.client.keys('*');
    const lifetimes = await Promise.all(keys.map((key) => reader.client.ttl(key)));
    reader.close();
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) expect(key).toMatch(/^tandem:limit:\w+:per\w+:[\w-]{43}$/);
    for (const lifetime of lifetimes) expect(lifetime).toBeGreaterThan(0);
  });

  it('limit by their own memory while it is down, answer fast, and share again when it is back', async () => {
    await redis.stop();
    await expect.poll(saidBySecond, PATIENCE).toBe(401);
    const address = newAddress();
    for (const server of [app, second]) expect(await statusesOf(server, address, POINTS + 1)).toEqual([401, 401, 401, 429]);
    expect([app, second].map(outages)).toEqual([1, 1]);

    await redis.start();
    await expect.poll(saidBySecond, PATIENCE).toBe(429);
    expect([app, second].map(outages)).toEqual([0, 0]);
  });

  it('do the same while it hangs', async () => {
    redis.pause();
    await expect.poll(saidBySecond, PATIENCE).toBe(401);
    const address = newAddress();
    expect(await statusesOf(app, address, POINTS + 1)).toEqual([401, 401, 401, 429]);
    redis.resume();
    await expect.poll(saidBySecond, PATIENCE).toBe(429);
  });
});

it.skipIf(!HAS_REDIS)('a server starts, limits and stops while Redis is down', async () => {
  const gone = await startRedis();
  await gone.close();
  const server = await startTestServer({ redisUrl: gone.url, rateLimits: { login: { perAddress: [1, HOUR] } } });
  expect(await statusesOf(server, '', 2)).toEqual([401, 429]);
  await expect.poll(() => outages(server), PATIENCE).toBe(1);
  await server.close();
});

it.skipIf(!HAS_REDIS)('verify reports whether a Redis is usable', async () => {
  const there = openRedis(redis.url);
  await there.verify();
  there.close();
  const refusing = openRedis(redis.url.replace('redis://', 'redis://nobody:wrong@'));
  await expect(refusing.verify()).rejects.toThrow('WRONGPASS');
  refusing.close();
});
