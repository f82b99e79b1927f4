import { openRedis } from '@tandem/drivers/redis';
import { openStorage } from '@tandem/storage';
import { HAS_REDIS, PATIENCE, TEST_SECRETS, databaseOf, startRedis, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { createTandem } from '../index.js';

it.skipIf(!HAS_REDIS)('a host that gives a Redis counts there once it has started', async () => {
  await using server = await startRedis();
  const redis = openRedis(server.url);
  const storage = await openStorage({ uri: databaseOf('host_redis') });
  const tandem = await createTandem({ storage, authSecrets: TEST_SECRETS, redis });
  try {
    tandem.start();
    await expect.poll(() => redis.client.status, PATIENCE).toBe('ready');
  } finally {
    await tandem.close();
    redis.close();
    await storage.close();
  }
});

it.skipIf(!HAS_REDIS)(
  'a Redis that refuses to count is told of once, until it counts again, and each instance limits alone',
  async () => {
    await using server = await startRedis();
    await using app = await startTestServer({ redisUrl: server.url, rateLimits: { login: { perAddress: [2, 3600] } } });
    const redis = openRedis(server.url);
    await redis.verify();
    const limitMemory = (bytes: number) => redis.client.config('SET', 'maxmemory', bytes);
    const guess = async () => (await app.rest('POST', '/auth/login', { email: 'a@example.org', password: 'a guess' })).status;
    const warnings = () => app.logs().split('Redis refuses to count').length - 1;
    const guessAndCount = async () => (await guess(), warnings());
    try {
      await limitMemory(1);
      // once the server is connected
      await expect.poll(guessAndCount, PATIENCE).toBe(1);
      await expect.poll(guess, PATIENCE).toBe(429);
      expect(warnings()).toBe(1);
      await limitMemory(0);
      expect(await guess()).toBe(401);
      await limitMemory(1);
      expect(await guessAndCount()).toBe(2);
    } finally {
      redis.close();
    }
  },
);
