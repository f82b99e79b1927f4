/** What the operator has to put right before a store can be used. Its message is one line for each thing, and names no credentials. */
export class StoreSetupError extends Error {
  override readonly name = 'StoreSetupError';
}

/** Connections of a process to a MongoDB server, and to the embedded engine, which works on so many commands at once. */
const POOL_SIZE = 50;
const EMBEDDED_POOL_SIZE = 8;

/** What an address may not say, by option: why not, or undefined for a value that is fine. The driver takes names in any case. */
const rules: Record<string, (value: string) => string | undefined> = {
  maxpoolsize: () => 'must not have maxPoolSize: the size of the pool is set by MONGODB_POOL_SIZE',
  readpreference: (value) =>
    value === 'primary'
      ? undefined
      : `must not have readPreference=${value}: only the primary is sure to have what has just been written`,
  // one server that stands alone is its own majority: which it is, only the server can say (`connect`)
  w: (value) => (value === 'majority' || value === '1' ? undefined : weak('w', value, 'acknowledged')),
  journal: (value) => (value === 'true' ? undefined : weak('journal', value, 'acknowledged')),
  j: (value) => (value === 'true' ? undefined : weak('j', value, 'acknowledged')),
  readconcernlevel: (value) =>
    ['majority', 'linearizable', 'snapshot'].includes(value) ? undefined : weak('readConcernLevel', value, 'read'),
};

function weak(option: string, value: string, what: string): string {
  return `must not have ${option}=${value}: it is weaker than majority, so that what was ${what} could be lost in a failover`;
}

/**
 * What an address of a store asks for that would cost safety or has a setting of its own (decision H13), one text for each, to stand after
 * the name of the setting.
 */
export function addressProblems(uri: string): string[] {
  return [...optionsOf(uri)].flatMap(([name, value]) => rules[name.toLowerCase()]?.(value) ?? []);
}

/** The options in the query of an address, undecoded names as they are written. */
export function optionsOf(uri: string): URLSearchParams {
  return new URLSearchParams(/\?(.*)$/s.exec(uri)?.[1] ?? '');
}

/** How many connections to open at most where nobody has said: the embedded engine's address is a Unix socket. */
export function defaultPoolSize(uri: string): number {
  return /^mongodb:\/\/[^/?]*%2F/i.test(uri) ? EMBEDDED_POOL_SIZE : POOL_SIZE;
}
