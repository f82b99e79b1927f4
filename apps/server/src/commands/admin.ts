import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Command } from 'commander';
import { readConfig } from '../config.js';
import { CommandError } from './command-error.js';
import { withDatabase } from './with-database.js';

/**
 * Asks for the password, so that it stays out of the shell history. A terminal does not show what is typed.
 * @throws CommandError when none is given
 */
async function askPassword(): Promise<string> {
  const { stdin, stderr } = process;
  // readline echoes what is typed to its output
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: nowhere, terminal: stdin.isTTY });
  stderr.write('Password: ');
  try {
    return await new Promise<string>((resolve, reject) => {
      // Ctrl+C and Ctrl+D close it
      lines.once('line', resolve).once('close', () => reject(new CommandError('no password was given')));
    });
  } finally {
    lines.close();
    stderr.write('\n');
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
