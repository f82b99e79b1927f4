/**
 * Something that the operator must fix before the store can be used. The message has one line per problem, and no
 * credentials.
 */
export class StoreSetupError extends Error {
  override readonly name = 'StoreSetupError';
}

/** Connections of a process to a MongoDB server; for the embedded engine, as many as it runs commands concurrently. */
const POOL_SIZE = 50;
const EMBEDDED_POOL_SIZE = 8;

/**
 * Forbidden options of an address: a function that returns the reason, or undefined for an allowed value. The driver
 * ignores the case of names.
 */
const rules: Record<string, (value: string) => string | undefined> = {
  maxpoolsize: () => 'must not have maxPoolSize: the size of the pool is set by MONGODB_POOL_SIZE',
  readpreference: (value) =>
    value === 'primary'
      ? undefined
      : `must not have readPreference=${value}: only the primary is sure to have what has just been written`,
  // a standalone server is its own majority: only the server can tell (`connect`)
  w: (value) => (value === 'majority' || value === '1' ? undefined : weak('w', value, 'acknowledged')),
  journal: (value) => (value === 'true' ? undefined : weak('journal', value, 'acknowledged')),
  j: (value) => (value === 'true' ? undefined : weak('j', value, 'acknowledged')),
  readconcernlevel: (value) => {
    if (value === 'linearizable') return `must not have readConcernLevel=linearizable: MongoDB refuses it for $merge`;
    return ['majority', 'snapshot'].includes(value) ? undefined : weak('readConcernLevel', value, 'read');
  },
};

function weak(option: string, value: string, what: string): string {
  return `must not have ${option}=${value}: it is weaker than majority, so that what was ${what} could be lost in a failover`;
}

/**
 * Options of a store's address that would weaken durability or have a setting of their own (decision H13), one text
 * each, to follow the name of the setting.
 */
export function addressProblems(uri: string): string[] {
  return [...optionsOf(uri)].flatMap(([name, value]) => rules[name.toLowerCase()]?.(value) ?? []);
}

/** The options in the query of an address; names keep their case. */
export function optionsOf(uri: string): URLSearchParams {
  return new URLSearchParams(/\?(.*)$/s.exec(uri)?.[1] ?? '');
}

/** Default number of connections; the embedded engine is recognized by its Unix socket. */
export function defaultPoolSize(uri: string): number {
  return /^mongodb:\/\/[^/?]*%2F/i.test(uri) ? EMBEDDED_POOL_SIZE : POOL_SIZE;
}
