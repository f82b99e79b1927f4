import type { Tandem } from '@tandem/services';
import type { Clock, Storage } from '@tandem/storage';
import { readConfig, type Config } from '../config.js';
import { wire } from '../create-server.js';
import { openDatabase } from '../database.js';
import { openDrivers, type Drivers } from '../drivers.js';
import { createLog } from '../logging.js';
import { serverUrl } from '../server-url.js';

/**
 * What a command works on: the environment's configuration and its store, which a running server may also have open.
 */
export interface CommandContext {
  config: Config;
  storage: Storage;
  drivers: Drivers;
  tandem: Tandem;
}

/** The URL of a server with this configuration. */
export function publicUrlOf({ publicUrl, host, port }: Config): string {
  return publicUrl ?? serverUrl(host, port);
}

/** Opens the store, runs the work, and always closes the store. The clock is the machine's by default. */
export async function withDatabase(work: (context: CommandContext) => Promise<void>, clock?: Clock): Promise<void> {
  const config = readConfig(process.env);
  // warnings only, so that the log does not mix with a command's output
  const log = createLog({ level: 'warn', readable: false, destination: process.stderr });
  const database = await openDatabase(config, log, clock);
  const { storage } = database;
  const publicUrl = publicUrlOf(config);
  const drivers = await openDrivers(config, { log, publicUrl, clock: storage.clock });
  try {
    const tandem = await wire(config, { storage, drivers, log, publicUrl });
    await work({ config, storage, drivers, tandem });
    await tandem.close();
  } finally {
    await drivers.close();
    await database.close();
  }
}
