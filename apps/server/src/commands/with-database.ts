import type { Tandem } from '@tandem/services';
import type { Storage } from '@tandem/storage';
import { readConfig, type Config } from '../config.js';
import { wire } from '../create-server.js';
import { openDatabase } from '../database.js';
import { createLog } from '../logging.js';

/** What a command works on: the configuration of the environment and its store, which a running server may have open too. */
export interface CommandContext {
  config: Config;
  storage: Storage;
  tandem: Tandem;
}

/** Opens the store, does the work, closes the store, whatever happens. */
export async function withDatabase(work: (context: CommandContext) => Promise<void>): Promise<void> {
  const config = readConfig(process.env);
  const log = createLog({ level: 'warn', readable: false });
  const database = await openDatabase(config, log);
  try {
    const tandem = await wire(config, database.storage, log, config.publicUrl ?? `http://${config.host}:${config.port}`);
    await work({ config, storage: database.storage, tandem });
    tandem.close();
  } finally {
    await database.close();
  }
}
