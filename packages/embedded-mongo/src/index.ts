import { prepareDataDirectory, prepareSocketPath } from './data-directory.js';
import type { EmbeddedMongoError } from './errors.js';
import { type EmbeddedMongoEvent, type RestartPolicy, superviseEngine } from './supervisor.js';

export { EmbeddedMongoError, type EmbeddedMongoErrorCode } from './errors.js';
export type { EmbeddedMongoEvent, RestartPolicy } from './supervisor.js';

export interface EmbeddedMongoOptions {
  /** The data directory; made, for its owner alone, where it is missing. */
  dir: string;
  /** The size of the engine's cache in MB; its process takes some 90 MB more. Default 64. */
  cacheMb?: number;
  /** When to start the engine again and when to give up. Default: 8 restarts in a row, after 50 ms, doubling, to 5 s. */
  restarts?: Partial<RestartPolicy>;
  /** How long to wait for whoever holds the directory and does not answer. Default 15 s: another process may be recovering its data. */
  inUseWaitMs?: number;
  /** Told of every start, restart and the end; must not throw. */
  onEvent?: (event: EmbeddedMongoEvent) => void;
}

export interface EmbeddedMongo extends AsyncDisposable {
  /** The address for a MongoDB driver, good until `stop`: an engine that is started again, by whomever, answers there. */
  readonly uri: string;
  /** Settles with the reason if the engine failed too often and is given up; never rejects. */
  readonly failed: Promise<EmbeddedMongoError>;
  /** Ends the use of the engine, and closes it if it is ours; a process that shares it takes over. May be called again. */
  stop(): Promise<void>;
}

const RESTARTS: RestartPolicy = { limit: 8, firstWaitMs: 50, longestWaitMs: 5000, stableAfterMs: 30_000 };

/**
 * Runs the MongoDB engine over a directory, in a child process that ends with this one and is started again when it fails. Where an engine
 * runs over the directory already, in this process or another of this user, it is shared.
 *
 * The engine has no sessions, transactions or change streams, and no users: its socket is for this user alone.
 *
 * @throws EmbeddedMongoError if it cannot start; `code` says why, the message what to do
 */
export async function startEmbeddedMongo(options: EmbeddedMongoOptions): Promise<EmbeddedMongo> {
  const { dir, cacheMb = 64, restarts, inUseWaitMs = 15_000, onEvent = () => {} } = options;
  const directory = await prepareDataDirectory(dir);
  const socketPath = await prepareSocketPath(directory);
  const supervisor = await superviseEngine({
    location: { directory, socketPath, cacheMb },
    restarts: { ...RESTARTS, ...restarts },
    inUseWaitMs,
    onEvent,
  });
  return {
    uri: uriOf(socketPath),
    failed: supervisor.failed,
    stop: () => supervisor.stop(),
    [Symbol.asyncDispose]: () => supervisor.stop(),
  };
}

function uriOf(socketPath: string): string {
  const parameters = new URLSearchParams({
    directConnection: 'true',
    // Without both, what the engine acknowledged is lost when its process is killed: asked for a majority, it does not wait for its journal.
    journal: 'true',
    w: '1',
    retryWrites: 'false',
    // How soon a driver looks again for an engine that is being restarted.
    minHeartbeatFrequencyMS: '100',
  });
  return `mongodb://${encodeURIComponent(socketPath)}/tandem?${parameters.toString()}`;
}
