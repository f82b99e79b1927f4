import path from 'node:path';
import { describeError } from '@tandem/core';
import { openMailDriver, type MailDriver } from '@tandem/drivers/mail';
import { openRedis, type RedisDriver } from '@tandem/drivers/redis';
import type { Logger } from 'pino';
import type { Config } from './config.js';

/** What the services work with beside the store. */
export interface Drivers {
  mail: MailDriver;
  redis: RedisDriver | undefined;
  close(): Promise<void>;
}

function openSharedRedis(url: string, log: Logger): RedisDriver {
  return openRedis(url, {
    onAway: (error) => log.warn({ err: describeError(error) }, 'Redis is away: this process limits by its own memory'),
    onBack: () => log.info({}, 'Redis is back'),
  });
}

/** The drivers of a configuration. Nothing is connected to before it is needed. */
export function openDrivers(config: Config, log: Logger): Drivers {
  const mail = openMailDriver(config.mail.url, { outboxDir: path.join(config.dataDir, 'outbox') });
  const redis = config.redisUrl === undefined ? undefined : openSharedRedis(config.redisUrl, log);
  return {
    mail,
    redis,
    async close() {
      redis?.close();
      await mail.close();
    },
  };
}
