import { prepareDataDirectory, prepareSocketPath } from './data-directory.js';
import type { EmbeddedMongoError } from './errors.js';
import { type EmbeddedMongoEvent, type RestartPolicy, superviseEngine } from './supervisor.js';

export { EmbeddedMongoError, type EmbeddedMongoErrorCode } from './errors.js';
export type { EmbeddedMongoEvent, RestartPolicy } from './supervisor.js';

export interface EmbeddedMongoOptions {
  /** The data directory; created if missing, accessible only to its owner. */
  dir: string;
  /** Size of the engine's cache, in MB; its process uses about 90 MB more. Default 64. */
  cacheMb?: number;
  /** When to restart the engine, and when to give up. Default: never to give up; after 50 ms, doubling up to 5 s. */
  restarts?: Partial<RestartPolicy>;
  /**
   * How long to wait for a process that holds the directory and does not answer. Default 15 s: it may be recovering its
   * data.
   */
  inUseWaitMs?: number;
  /** Called for every start, restart and the end; must not throw. */
  onEvent?: (event: EmbeddedMongoEvent) => void;
}

export interface EmbeddedMongo extends AsyncDisposable {
  /**
   * The URI for a MongoDB driver, valid until `stop`: a restarted engine answers there, whichever process starts it.
   */
  readonly uri: string;
  /** Settles with the reason when the engine has failed too often and is given up; never rejects. */
  readonly failed: Promise<EmbeddedMongoError>;
  /**
   * Stops using the engine, and closes it if it is ours; a process that shares it takes over. May be called repeatedly.
   */
  stop(): Promise<void>;
}

/** Without an end: a disk may stay full for a night, and nobody would restart the engine once there is room. */
const RESTARTS: RestartPolicy = { limit: Infinity, firstWaitMs: 50, longestWaitMs: 5000, stableAfterMs: 30_000 };

/**
 * Runs the MongoDB engine on a directory, in a child process that ends with this one and is restarted when it fails. An
 * engine that already runs on the directory, in this process or another of this user, is shared.
 *
 * The engine has no sessions, transactions, change streams or users: its socket is accessible to this user alone.
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
    // Without both, killing the engine loses acknowledged writes: `majority` alone does not wait for its journal.
    journal: 'true',
    w: '1',
    retryWrites: 'false',
    // How soon a driver checks again for an engine that is restarting.
    minHeartbeatFrequencyMS: '100',
  });
  return `mongodb://${encodeURIComponent(socketPath)}/tandem?${parameters.toString()}`;
}
