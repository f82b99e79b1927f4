import path from 'node:path';
import { describeError } from '@tandem/core';
import { EmbeddedMongoError, startEmbeddedMongo, type EmbeddedMongoEvent } from '@tandem/embedded-mongo';
import { StoreSetupError, openStorage, type Clock, type Storage } from '@tandem/storage';
import type { Logger } from 'pino';
import type { Config } from './config.js';
import { openDataDir } from './data-dir.js';
import { EnvironmentError } from './read-env.js';

/** An open store, and the engine behind it if that is embedded. */
export interface Database {
  storage: Storage;
  close(): Promise<void>;
}

function logEvent(log: Logger, event: EmbeddedMongoEvent): void {
  if (event.type === 'started') log.info({ role: event.role, enginePid: event.pid }, 'the embedded database runs');
  else if (event.type === 'restarting')
    log.warn({ reason: event.error.message, waitMs: event.waitMs }, 'the embedded database ended and is started again');
  else log.error({ reason: event.error.message }, 'the embedded database is given up');
}

/**
 * What is wrong with the database, and what to do. The driver's own message is left out: it may quote the URI.
 * @param error from opening or using it
 */
export function databaseProblem(error: unknown): string {
  if ([EmbeddedMongoError, StoreSetupError, EnvironmentError].some((kind) => error instanceof kind))
    return (error as Error).message;
  const { name, code = '' } = error as { name: string; code?: unknown };
  const reason = [name, code].join(' ').trim();
  return `MONGODB_URI cannot be used (${reason}): check the address, and that the server there runs and accepts the password`;
}

/** Where the embedded engine keeps its data. */
export const engineDir = ({ dataDir }: Pick<Config, 'dataDir'>): string => path.join(dataDir, 'mongodb');

/**
 * Opens the configured MongoDB, or the embedded engine on the data folder: a second process attaches to the running
 * one.
 * @throws EnvironmentError or EmbeddedMongoError when it cannot be reached or started, with a remedy in the message
 */
export async function openDatabase(config: Config, log: Logger, clock?: Clock): Promise<Database> {
  if (config.mongodbUri === undefined) openDataDir(config.dataDir);
  const engine =
    config.mongodbUri === undefined
      ? await startEmbeddedMongo({ dir: engineDir(config), onEvent: (event) => logEvent(log, event) })
      : undefined;
  try {
    const { mongodbUri: uri = engine?.uri ?? '', mongodbPoolSize: poolSize } = config;
    const storage = await openStorage({ uri, log, ...(!engine && poolSize && { poolSize }), ...(clock && { clock }) });
    return {
      storage,
      async close() {
        await storage.close();
        await engine?.stop();
      },
    };
  } catch (error) {
    await engine?.stop().catch((cause: unknown) => log.warn({ err: describeError(cause) }, 'the embedded database did not stop'));
    throw engine ? error : new EnvironmentError([databaseProblem(error)]);
  }
}
