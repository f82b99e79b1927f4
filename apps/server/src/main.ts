#!/usr/bin/env node
import { ApiError } from '@tandem/core';
import { EmbeddedMongoError } from '@tandem/embedded-mongo';
import { ImportError, StoreSetupError } from '@tandem/storage';
import { Command } from 'commander';
import { createAdminCommand } from './commands/admin.js';
import { CommandError } from './commands/command-error.js';
import { createDoctorCommand } from './commands/doctor.js';
import { createIndexesCommand } from './commands/indexes.js';
import { createOpenApiCommand } from './commands/openapi.js';
import { createSeedCommand } from './commands/seed.js';
import { createServeCommand } from './commands/serve.js';
import { createExportCommand, createImportCommand } from './commands/transfer.js';
import { EnvironmentError } from './read-env.js';

const program = new Command('tandem')
  .description('A backend with accounts, identities and notifications: typed tRPC and documented REST')
  .addCommand(createServeCommand())
  .addCommand(createAdminCommand())
  .addCommand(createOpenApiCommand())
  .addCommand(createIndexesCommand())
  .addCommand(createDoctorCommand())
  .addCommand(createSeedCommand())
  .addCommand(createExportCommand())
  .addCommand(createImportCommand());

/** Makes the errors of a command, and of those below it, one line that says where to read on. */
function sayInOneLine(command: Command): void {
  const outputError = (text: string, write: (text: string) => void) =>
    write(`${text.trim().replaceAll('\n', ' ')}; tandem --help lists the commands\n`);
  command.configureOutput({ outputError });
  command.commands.forEach(sayInOneLine);
}
sayInOneLine(program);

const given = process.argv.slice(2);

try {
  // not commander's default command, which would take an unknown one for its argument
  await program.parseAsync(given.length === 0 ? ['serve'] : given, { from: 'user' });
} catch (error) {
  // errors that the user can fix are shown as messages; all others with a stack
  const isForPeople = [EnvironmentError, EmbeddedMongoError, CommandError, ImportError, StoreSetupError, ApiError].some(
    (kind) => error instanceof kind,
  );
  console.error(isForPeople ? (error as Error).message : error);
  if (error instanceof ApiError) for (const problem of error.data ?? []) console.error(`  ${problem}`);
  process.exitCode = 1;
}
