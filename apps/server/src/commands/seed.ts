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
      'Fill an empty database with people, two shops, 40 products with images, a year of orders and notifications, and chat channels',
    )
    .option('--password <text>', 'password of every account; generated and printed by default')
    .action(async ({ password = randomBytes(12).toString('base64url') }: { password?: string }) => {
      const clock = createMovableClock(new Date());
      await withDatabase(async ({ tandem, storage, drivers }) => {
        await storage.ensureIndexes();
        const upload = createUpload(drivers.files);
        const { people, products, orders, notifications, messages } = await fillDatabase({ tandem, clock, password, upload });
        const made = `${people.length} people, ${products} products, ${orders} orders, ${notifications} notifications`;
        console.log(`made ${made}, ${messages} messages`);
        console.log(`everybody's password is ${password}`);
        for (const { email, is } of people) console.log(`  ${email.padEnd(22)} ${is}`);
      }, clock);
    });
}
