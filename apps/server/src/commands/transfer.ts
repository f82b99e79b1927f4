import { createWriteStream, existsSync } from 'node:fs';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { TransferProgress } from '@tandem/storage';
import { Command } from 'commander';
import { readConfig } from '../config.js';
import { engineDir } from '../database.js';
import { CommandError } from './command-error.js';
import { withDatabase } from './with-database.js';

/** Interval of progress messages, in milliseconds. */
const PROGRESS_MS = 1000;
/** An export contains password hashes and messages, so only its owner may read the file. */
const FILE = { flags: 'wx', mode: 0o600 };

/** Reports progress on stderr, because stdout carries the lines themselves. */
function createProgress(done: 'exported' | 'imported') {
  let saidAt = performance.now();
  let [documents, leftOut] = [0, 0];
  return {
    update(progress: TransferProgress) {
      ({ documents, leftOut = 0 } = progress);
      if (performance.now() - saidAt < PROGRESS_MS) return;
      saidAt = performance.now();
      console.error(`${done} ${documents} documents, now ${progress.collection}`);
    },
    end() {
      console.error(`${done} ${documents} documents`);
      if (leftOut > 0) console.error(`left out ${leftOut} that shared a unique value with newer ones`);
    },
    isEmpty: () => documents === 0,
  };
}

function explain(error: unknown, file: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST') return new CommandError(`${file} already exists: an export overwrites nothing`);
  if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR') return new CommandError((error as Error).message);
  return error;
}

/** An engine on a wrong folder would make an empty database there, and an empty backup. @throws CommandError */
function refuseMissingData(): void {
  const config = readConfig(process.env);
  if (config.mongodbUri !== undefined || existsSync(engineDir(config))) return;
  throw new CommandError(`${engineDir(config)} does not exist: set DATA_DIR or MONGODB_URI to that of the server`);
}

/** `tandem export`: writes the whole database as lines of JSON. */
export function createExportCommand(): Command {
  return new Command('export')
    .description('Write every document of the database as lines of JSON, for a backup or another database')
    .argument('[file]', 'a new file; standard output without one')
    .action(async (file: string | undefined) => {
      refuseMissingData();
      await withDatabase(async ({ storage }) => {
        const progress = createProgress('exported');
        async function* lines(): AsyncGenerator<string> {
          for await (const line of storage.exportLines(progress.update)) yield `${line}\n`;
        }
        const target = file === undefined ? leaveOpen(process.stdout) : createWriteStream(file, FILE);
        try {
          await pipeline(Readable.from(lines()), target);
        } catch (error) {
          const failure = explain(error, file ?? '');
          // half an export could be mistaken for a backup
          if (file !== undefined && !(failure instanceof CommandError)) await rm(file, { force: true });
          throw failure;
        }
        if (progress.isEmpty()) {
          if (file !== undefined) await rm(file, { force: true });
          throw new CommandError('the database is empty: is this the MONGODB_URI or DATA_DIR of the server?');
        }
        progress.end();
      });
    });
}

/** A stream whose end does not close the process's own. */
function leaveOpen(stream: NodeJS.WriteStream): Writable {
  return new Writable({ write: (chunk: Buffer, _encoding, done) => void stream.write(chunk, done) });
}

/** The lines of a text that may break off; `readline` would also split at U+2028 inside a message. */
async function* linesOf(input: Readable): AsyncGenerator<string> {
  let begun = '';
  for await (const chunk of input.setEncoding('utf8')) {
    const [end = '', ...more] = (chunk as string).split('\n');
    begun += end;
    for (const next of more) {
      yield begun;
      begun = next;
    }
  }
  if (begun !== '') yield begun;
}

async function openFile(file: string): Promise<FileHandle> {
  try {
    return await open(file);
  } catch (error) {
    throw explain(error, file);
  }
}

/** `tandem import`: fills an empty database from an export. */
export function createImportCommand(): Command {
  return new Command('import')
    .description('Fill an empty database from an export: all of it, or nothing')
    .argument('[file]', 'an export; standard input without one')
    .action((file: string | undefined) =>
      withDatabase(async ({ storage }) => {
        // first of all: a missing file must have no effect
        const input = file === undefined ? process.stdin : (await openFile(file)).createReadStream();
        await storage.ensureIndexes();
        const progress = createProgress('imported');
        await storage.importLines(linesOf(input), progress.update);
        progress.end();
      }),
    );
}
