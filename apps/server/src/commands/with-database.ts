import type { Tandem } from '@tandem/services';
import type { Clock, Storage } from '@tandem/storage';
import { readConfig, type Config } from '../config.js';
import { wire } from '../create-server.js';
import { openDatabase } from '../database.js';
import { openDrivers, type Drivers } from '../drivers.js';
import { createLog } from '../logging.js';

/** What a command works on: the configuration of the environment and its store, which a running server may have open too. */
export interface CommandContext {
  config: Config;
  storage: Storage;
  drivers: Drivers;
  tandem: Tandem;
}

/** Where a server of this configuration would be reached. */
export function publicUrlOf({ publicUrl, host, port }: Config): string {
  return publicUrl ?? `http://${host}:${port}`;
}

/** Opens the store, does the work, closes the store, whatever happens. The clock is the machine's, unless one is given. */
export async function withDatabase(work: (context: CommandContext) => Promise<void>, clock?: Clock): Promise<void> {
  const config = readConfig(process.env);
  // not among what a command prints
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
