import { openRedis } from '@tandem/drivers/redis';
import { openStorage } from '@tandem/storage';
import { HAS_REDIS, PATIENCE, TEST_SECRETS, databaseOf, startRedis } from '@tandem/testing';
import { expect, it } from 'vitest';
import { createTandem } from '../index.js';

it.skipIf(!HAS_REDIS)('a host that gives a Redis counts there once it has started', async () => {
  await using server = await startRedis();
  const redis = openRedis(server.url);
  const storage = await openStorage({ uri: databaseOf('host redis') });
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
