import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import { fillDatabase } from '../seed/fill-database.js';
import { createMovableClock } from '../seed/movable-clock.js';
import { createUpload } from '../seed/upload.js';
import { withDatabase } from './with-database.js';

/** `tandem seed`: fills an empty database with demonstration data. */
export function createSeedCommand(): Command {
  return new Command('seed')
    .description(
      'Fill an empty database with people, a holding with four shops, their products with pictures, a year of orders, and chat channels',
    )
    .option('--password <text>', 'password of every account; generated and printed by default')
    .action(async ({ password = randomBytes(12).toString('base64url') }: { password?: string }) => {
      const clock = createMovableClock();
      await withDatabase(async ({ tandem, storage, drivers }) => {
        await storage.ensureIndexes();
        const upload = createUpload(drivers.files);
        const { people, ...made } = await fillDatabase({ tandem, clock, password, upload });
        const counts = Object.entries(made).map(([what, count]) => `${count} ${what}`);
        console.log(`made ${people.length} people, ${counts.join(', ')}`);
        console.log(`everybody's password is ${password}`);
        for (const { email, is } of people) console.log(`  ${email.padEnd(22)} ${is}`);
      }, clock);
    });
}
