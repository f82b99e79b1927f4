import path from 'node:path';
import { describeError, type EventBus } from '@tandem/core';
import { openFilesDriver, type FilesDriver } from '@tandem/drivers/files';
import { openMailDriver, type MailDriver } from '@tandem/drivers/mail';
import { createRedisBus, openRedis, type RedisDriver } from '@tandem/drivers/redis';
import type { Clock } from '@tandem/storage';
import type { Logger } from 'pino';
import type { Config } from './config.js';

/** What the services use besides the store. */
export interface Drivers {
  mail: MailDriver;
  files: FilesDriver;
  redis: RedisDriver | undefined;
  /** Undefined: events stay in this process. */
  bus: EventBus | undefined;
  close(): Promise<void>;
}

function openSharedRedis(url: string, log: Logger): RedisDriver {
  return openRedis(url, {
    onAway: (error) =>
      log.warn({ err: describeError(error) }, 'Redis is away: this process limits by its own memory, and hears of no other'),
    onBack: () => log.info({}, 'Redis is back'),
  });
}

/**
 * The drivers of a configuration. They connect on first use.
 * @param publicUrl where the server is reached: the base of URLs of files on disk
 */
export async function openDrivers(
  config: Config,
  { log, publicUrl, clock }: { log: Logger; publicUrl: string; clock: Clock },
): Promise<Drivers> {
  const mail = openMailDriver(config.mail.url, { outboxDir: path.join(config.dataDir, 'outbox') });
  const files = await openFilesDriver(config.files.url, {
    dir: path.join(config.dataDir, 'files'),
    secrets: [config.authSecrets.authSignSecret].flat(),
    publicUrl,
    now: clock.now,
  });
  const redis = config.redisUrl === undefined ? undefined : openSharedRedis(config.redisUrl, log);
  const bus = redis && createRedisBus(redis, log);
  return {
    mail,
    files,
    redis,
    bus,
    async close() {
      bus?.close();
      redis?.close();
      await files.close();
      await mail.close();
    },
  };
}
