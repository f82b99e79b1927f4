/**
 * The store's error fields. Errors are recognized by name and code, not class: a host may use another copy of the
 * driver.
 */

interface Failure {
  name?: unknown;
  message?: unknown;
  code?: unknown;
  syscall?: unknown;
  cause?: unknown;
  /** The error of a whole bulk write: the driver sets no `cause`. */
  errorResponse?: unknown;
  keyPattern?: object;
  writeErrors?: { err?: Failure }[];
}

function isFailure(error: unknown): error is Failure {
  return typeof error === 'object' && error !== null;
}

/**
 * Server codes after which a retry of a read may succeed soon: unreachable, stepping down, interrupted, no majority
 * yet.
 */
const passingCodes = new Set<unknown>([6, 7, 89, 91, 133, 134, 189, 9001, 10_058, 10_107, 11_600, 11_602, 13_435, 13_436]);
/** Other codes that are not the caller's fault: timeout, majority not reached or unreachable, disk full. */
const unavailableCodes = new Set<unknown>([50, 64, 100, 262, 14_031, ...passingCodes]);

const passingNames = /^(Mongo(Network|NetworkTimeout|PoolCleared|PoolClosed|ServerClosed)|PoolClearedOnNetwork)Error$/;
const unavailableNames =
  /^Mongo(ServerSelection|TopologyClosed|NotConnected|ClientClosed|WaitQueueTimeout|OperationTimeout)Error$|^(MongooseServerSelection|UnitUnsettled)Error$/;

/**
 * The outcome of a unit of work is left to the next sweep: its process stalled for longer than its lease, or could not
 * undo it. `isStoreUnavailable` is true for it, so that the answer is 503 and never success (decisions H14).
 */
export class UnitUnsettledError extends Error {
  override readonly name = 'UnitUnsettledError';
}

/**
 * A socket that ended before or during a read or write: the driver passes some of these errors through. Node names no
 * system call when it refuses to write because the other side has ended.
 */
function isBrokenSocket({ code, syscall }: Failure): boolean {
  if (code === 'EPIPE' && syscall === undefined) return true;
  return (code === 'EPIPE' || code === 'ECONNRESET') && (syscall === 'write' || syscall === 'read');
}

/** Whether a read with this error may be retried: the connection broke; a slow query does not count. */
export function isPassing(error: unknown): boolean {
  return isFailure(error) && (passingNames.test(String(error.name)) || passingCodes.has(error.code) || isBrokenSocket(error));
}

/**
 * Whether the store was unreachable or did not answer in time, so that the caller is not at fault and gets 503
 * (decision T4).
 */
export function isStoreUnavailable(error: unknown): boolean {
  if (!isFailure(error)) return false;
  if (isPassing(error) || unavailableNames.test(String(error.name)) || unavailableCodes.has(error.code)) return true;
  // Mongoose's message for an operation on a closed connection.
  if (error.name === 'MongooseError' && /bufferCommands/.test(String(error.message))) return true;
  return [error.cause, error.errorResponse].some(isStoreUnavailable);
}

/** Whether the store has stopped a command that took too long: what a write had changed by then stays. */
export function isOutOfTime(error: unknown): boolean {
  return isFailure(error) && (error.code === 50 || [error.cause, error.errorResponse].some(isOutOfTime));
}

/**
 * For reads on which later writes depend: they see only data on a majority of servers, which no failover rolls back
 * (decision H13). Acknowledged writes are included.
 */
export const MAJORITY = { readConcern: { level: 'majority' } } as const;

/**
 * The error for a write that is stored but could still be lost in a failover; `isStoreUnavailable` is true for it.
 * @param what in words
 */
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
