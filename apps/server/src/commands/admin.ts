import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { ApiError } from '@tandem/core';
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

/** Says what to do about an address that has an account. */
function explainTaken(email: string) {
  return (error: unknown): never => {
    if (!(error instanceof ApiError) || error.errorCode !== 'auth.alreadyRegistered') throw error;
    throw new CommandError(`${email} has an account: to make it an admin, run  tandem admin promote --email ${email}`);
  };
}

/** `tandem admin create` and `tandem admin promote`: may run beside a running server. */
export function createAdminCommand(): Command {
  const create = new Command('create')
    .description('Create an admin with a verified email; asks for the password unless ADMIN_PASSWORD is set')
    .requiredOption('--email <address>', 'email address of the new admin')
    .action(async ({ email }: { email: string }) => {
      const password = readConfig(process.env).adminPassword ?? (await askPassword());
      await withDatabase(async ({ tandem, storage }) => {
        await storage.ensureIndexes();
        const id = await tandem.services.authentication.createAdmin({ email, password }).catch(explainTaken(email));
        console.log(`created the admin ${id}`);
      });
    });
  const promote = new Command('promote')
    .description('Make an existing account with a verified email an admin')
    .requiredOption('--email <address>', 'email address of the account')
    .action(async ({ email }: { email: string }) => {
      await withDatabase(async ({ tandem, config }) => {
        const { identities } = tandem.services;
        const account = await identities.credentialsOf({ email: email.trim().toLowerCase() });
        if (!account) throw new CommandError(`${email} has no account: run  tandem admin create --email ${email}`);
        // anybody may register an address: what they cannot do is prove it
        if (!(await identities.isEmailVerified(account.id)))
          throw new CommandError(
            `nobody has verified ${email}, so the account may be a stranger's: whoever resets the password by mail verifies it`,
          );
        await identities.patch(account.id, { typeId: config.typeIds.admin });
        console.log(`${account.id} is an admin`);
      });
    });
  return new Command('admin').description('Admins').addCommand(create).addCommand(promote);
}
