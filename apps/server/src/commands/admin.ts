import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { readConfig } from '../config.js';
import { withDatabase } from './with-database.js';

/** Asks for the password, so that it stays out of the shell history. */
async function askPassword(): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question('Password: ');
  } finally {
    lines.close();
  }
}

/** `tandem admin create --email a@b.co`: may run beside a running server. */
export function createAdminCommand(): Command {
  const create = new Command('create')
    .description('Create an admin with a verified email; asks for the password unless ADMIN_PASSWORD is set')
    .requiredOption('--email <address>', 'email address of the new admin')
    .action(async ({ email }: { email: string }) => {
      const password = readConfig(process.env).adminPassword ?? (await askPassword());
      await withDatabase(async ({ tandem, storage }) => {
        await storage.ensureIndexes();
        const id = await tandem.services.authentication.createAdmin({ email, password });
        console.log(`created the admin ${id}`);
      });
    });
  return new Command('admin').description('Admins').addCommand(create);
}
