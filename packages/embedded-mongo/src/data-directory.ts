import { createHash, randomUUID } from 'node:crypto';
import { access, chmod, constants, lstat, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { engineFailed, writeRefused } from './errors.js';

/** Longest socket path that the kernel accepts. */
const MAX_SOCKET_PATH_BYTES = 107;

/**
 * Creates the data directory if missing, accessible only to its owner.
 *
 * @returns its real path, the same for all of its names
 * @throws EmbeddedMongoError `directory-not-writable`, `disk-full`
 */
export async function prepareDataDirectory(dir: string): Promise<string> {
  try {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    return await realpath(dir);
  } catch (error) {
    throw writeRefused(dir, error as Error);
  }
}

/**
 * Writes this many bytes to the directory and removes them again.
 *
 * @throws EmbeddedMongoError `directory-not-writable`, `disk-full`
 */
export async function tryWriting(directory: string, bytes: number): Promise<void> {
  const file = join(directory, `.write-test-${randomUUID()}`);
  try {
    await writeFile(file, Buffer.alloc(bytes), { flush: true });
    await rm(file);
  } catch (error) {
    await rm(file, { force: true }).catch(() => {});
    throw writeRefused(directory, error as Error);
  }
}

/**
 * Whether an engine has written there before.
 *
 * @throws EmbeddedMongoError `directory-not-writable` where this user may not read its files, which the engine would
 * take for damage
 */
export async function holdsData(directory: string): Promise<boolean> {
  try {
    await access(join(directory, 'WiredTiger.wt'), constants.R_OK | constants.W_OK);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw writeRefused(directory, error as Error);
  }
}

/** The holder of the engine's lock, according to the lock file. */
export async function lockHolder(directory: string): Promise<string> {
  const pid = (await readFile(join(directory, 'mongod.lock'), 'utf8').catch(() => '')).trim();
  return pid ? `another process (pid ${pid})` : 'another process';
}

/**
 * The socket on which all processes of this user find a directory's engine: a short name, in a directory of this user
 * alone.
 *
 * @param directory as returned by `prepareDataDirectory`
 * @param temporary where to create the sockets' directory; `/tmp` where that is too long
 * @throws EmbeddedMongoError `engine-failed` where the sockets' directory belongs to another user
 */
export async function prepareSocketPath(directory: string, temporary: string = tmpdir()): Promise<string> {
  const user = process.getuid?.() ?? 0;
  const name = join(`tandem-${user}`, `${createHash('sha256').update(directory).digest('hex').slice(0, 16)}.sock`);
  const isShort = Buffer.byteLength(join(temporary, name)) <= MAX_SOCKET_PATH_BYTES;
  const socketPath = join(isShort ? temporary : '/tmp', name);
  const parent = dirname(socketPath);
  try {
    await mkdir(parent, { recursive: true, mode: 0o700 });
    // Another user could create a directory or link of that name first, and would then control access to the database.
    const found = await lstat(parent);
    if (!found.isDirectory() || found.uid !== user) throw new Error('it belongs to somebody else');
    await chmod(parent, 0o700);
  } catch (error) {
    throw engineFailed(`its socket cannot be in ${parent}: ${(error as Error).message}. TMPDIR may name another place`, error);
  }
  return socketPath;
}
