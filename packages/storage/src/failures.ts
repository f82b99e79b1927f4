/** What a failure of the store means. Errors are told by name and code: a host may bring a driver of its own. */

interface Failure {
  name?: unknown;
  message?: unknown;
  code?: unknown;
  syscall?: unknown;
  cause?: unknown;
  /** What failed a bulk write as a whole: the driver gives it no `cause`. */
  errorResponse?: unknown;
  keyPattern?: object;
  writeErrors?: { err?: Failure }[];
}

function isFailure(error: unknown): error is Failure {
  return typeof error === 'object' && error !== null;
}

/** Server codes after which the same read may well work a moment later: unreachable, stepping down, interrupted, no majority yet. */
const passingCodes = new Set<unknown>([6, 7, 89, 91, 133, 134, 189, 9001, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436]);
/** The rest of what is no fault of the caller: out of time, majority not reached or not to be reached, disk full. */
const unavailableCodes = new Set<unknown>([50, 64, 100, 262, 14_031, ...passingCodes]);

const passingNames = /^(Mongo(Network|NetworkTimeout|PoolCleared|PoolClosed|ServerClosed)|PoolClearedOnNetwork)Error$/;
const unavailableNames =
  /^Mongo(ServerSelection|TopologyClosed|NotConnected|ClientClosed|WaitQueueTimeout|OperationTimeout)Error$|^(MongooseServerSelection|UnitUnsettled)Error$/;

/**
 * What has become of a unit of work is for the next sweep to say: its process was away for longer than its lease, or could not take it back.
 * `isStoreUnavailable` is true of it, so that the answer is 503 and never success (decisions H14).
 */
export class UnitUnsettledError extends Error {
  override readonly name = 'UnitUnsettledError';
}

/** A socket that ended while it was written or read: the driver lets some of these through as they are. */
function isBrokenSocket({ code, syscall }: Failure): boolean {
  return (code === 'EPIPE' || code === 'ECONNRESET') && (syscall === 'write' || syscall === 'read');
}

/** Whether a read that failed so may be sent again: the connection broke; nothing says that the query itself is too slow. */
export function isPassing(error: unknown): boolean {
  return isFailure(error) && (passingNames.test(String(error.name)) || passingCodes.has(error.code) || isBrokenSocket(error));
}

/** Whether the store could not be reached or did not answer in time, so that the caller is not at fault (decision T4). */
export function isStoreUnavailable(error: unknown): boolean {
  if (!isFailure(error)) return false;
  if (isPassing(error) || unavailableNames.test(String(error.name)) || unavailableCodes.has(error.code)) return true;
  // Mongoose's words for an operation on a connection that was closed.
  if (error.name === 'MongooseError' && /bufferCommands/.test(String(error.message))) return true;
  return [error.cause, error.errorResponse].some(isStoreUnavailable);
}

/**
 * For reads whose answer others go on from: they see what is on a majority of servers, which no failover takes back (decision H13). What was
 * acknowledged is among it.
 */
export const MAJORITY = { readConcern: { level: 'majority' } } as const;

/** The failure (`isStoreUnavailable`) where something is stored, and a failover could still lose it. @param what in words */
export function notOnMajority(what: string): Error {
  return Object.assign(new Error(`${what} is not on a majority of servers yet`), { code: 64 });
}

/** The unique index that refused a write, and its fields; false for any other error. */
export function isDuplicateKey(error: unknown): { index?: string; fields: string[] } | false {
  if (!isFailure(error)) return false;
  if (error.code !== 11_000) return error.cause !== undefined && isDuplicateKey(error.cause);
  const inner = error.writeErrors?.[0]?.err;
  const index = / index: (\S+)/.exec(String(error.message))?.[1];
  return { ...(index === undefined ? {} : { index }), fields: Object.keys(error.keyPattern ?? inner?.keyPattern ?? {}) };
}
