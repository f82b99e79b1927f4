import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RunningEngine } from './attach.js';
import { holdsData, lockHolder, tryWriting } from './data-directory.js';
import { type EmbeddedMongoError, dataDamaged, directoryInUse, engineFailed, writeRefused } from './errors.js';
import { prepareBinding } from './native-library.js';

/** The engine preallocates journal files of this size, and aborts when the disk has no room for the next. */
const JOURNAL_FILE_BYTES = 8 * 1024 * 1024;
/** How long closing may take; everything acknowledged is in the journal already. */
const CLOSE_MS = 10_000;
/** Exits by which the engine ends without a message: it cannot write, or found unreadable data. */
const FATAL_ENDINGS = new Set(['SIGABRT', 'SIGSEGV', 'SIGBUS', 'exit code 14']);

export interface EngineLocation {
  /** Real path of the data directory. */
  directory: string;
  socketPath: string;
  /** Size of the engine's cache, in MB. */
  cacheMb: number;
}

type HostMessage = { type: 'ready' } | { type: 'failed'; stage: 'load' | 'open' | 'listen'; message: string };

/**
 * Starts a process that opens the engine on the directory and serves it on the socket. Of several processes, the
 * engine's lock on the directory decides which one gets it; the kernel frees the lock when its process dies.
 *
 * @throws EmbeddedMongoError with any of its codes
 */
export async function startEngineProcess({ directory, socketPath, cacheMb }: EngineLocation): Promise<RunningEngine> {
  await tryWriting(directory, 1);
  const binding = await prepareBinding(join(directory, 'engine-library'));
  const hadData = await holdsData(directory);

  const child = fork(fileURLToPath(new URL('engine-host.js', import.meta.url)), [directory, socketPath, String(cacheMb)], {
    cwd: '/',
    env: hostEnvironment(binding),
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const complaints = collectLastText(child);
  const exited = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });

  const message = await new Promise<HostMessage | undefined>((resolve) => {
    child.once('message', (first) => resolve(first as HostMessage));
    void exited.then(() => resolve(undefined));
  });
  if (message?.type !== 'ready') {
    const ending = await exited;
    throw message ? await explainRefusal(message) : await explainEnd(ending, hadData);
  }

  async function explainRefusal({ stage, message: text }: HostMessage & { type: 'failed' }): Promise<EmbeddedMongoError> {
    if (stage !== 'open') return engineFailed(text);
    if (text.includes('DBPathInUse')) return directoryInUse(directory, await lockHolder(directory));
    if (/read-only|permission|not permitted/i.test(text)) return writeRefused(directory, new Error(text));
    return (await whatForbidsWriting()) ?? (hadData ? dataDamaged(directory, text) : engineFailed(text));
  }

  async function explainEnd(ending: string, isDataSuspect: boolean): Promise<EmbeddedMongoError> {
    if (FATAL_ENDINGS.has(ending)) {
      const forbidden = await whatForbidsWriting();
      if (forbidden) return forbidden;
      if (isDataSuspect) return dataDamaged(directory, ending);
    }
    return engineFailed(`${ending} ${complaints()}`.trim());
  }

  async function whatForbidsWriting(): Promise<EmbeddedMongoError | undefined> {
    return (await tryWriting(directory, JOURNAL_FILE_BYTES).catch((error: EmbeddedMongoError) => error)) ?? undefined;
  }

  let isReleased = false;
  return {
    role: 'owner',
    pid: child.pid as number,
    ended: exited.then(async (ending) => (isReleased ? undefined : await explainEnd(ending, false))),
    async release() {
      isReleased = true;
      // The callback swallows the error of a process that has just ended.
      if (child.connected) child.send('stop', () => {});
      const deadline = setTimeout(() => child.kill('SIGKILL'), CLOSE_MS);
      await exited;
      clearTimeout(deadline);
    },
  };
}

/** Of our environment only what Node needs: no secrets, and none of our NODE_OPTIONS. */
function hostEnvironment(binding: string): NodeJS.ProcessEnv {
  const { PATH, LD_LIBRARY_PATH, TZ } = process.env;
  return { PATH, LD_LIBRARY_PATH, TZ, MALLOC_ARENA_MAX: '1', NAPI_RS_NATIVE_LIBRARY_PATH: binding };
}

function collectLastText(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (more: string) => (text = (text + more).slice(-2000)));
  return () => text.trim();
}
