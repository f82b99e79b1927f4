import { addressGroup, requestErrors } from '@tandem/core';

/** Password work that waits at most, and the seconds after which another try makes sense when that much does. */
const QUEUE_LENGTH = 200;
const RETRY_AFTER_BUSY = 5;
/** For how long it waits at most, in milliseconds: the requests of what waits longer are being given up. */
const WAIT_MS = 10_000;

/** For whom a password is hashed or compared. */
export interface PasswordClient {
  ip: string;
  /** Its email. */
  account: string;
  /** Its signal aborts when the request is over. */
  waiting?: { readonly signal: AbortSignal } | undefined;
}

interface Job {
  client: PasswordClient;
  signal: AbortSignal | undefined;
  latest: number;
  run(): void;
  drop(): void;
}

const isBusy = () => requestErrors.unavailable({ retryAfter: RETRY_AFTER_BUSY });

/** The first entry of a map, which has its entries in the order in which they came. */
function firstOf<K, V>(map: Map<K, V>): [K, V] | undefined {
  return map.entries().next().value;
}

/** The jobs that wait: by address, and within an address by account. */
function createWaiting() {
  const addresses = new Map<string, Map<string, Job[]>>();
  let length = 0;
  const lengthOf = (accounts: Map<string, Job[]>) => [...accounts.values()].reduce((sum, jobs) => sum + jobs.length, 0);

  /** Takes one out; address and account stand behind all others afterwards. */
  function takeFrom(address: string, account: string, end: 'first' | 'last'): Job | undefined {
    const accounts = addresses.get(address);
    const jobs = accounts?.get(account);
    const job = end === 'first' ? jobs?.shift() : jobs?.pop();
    if (!accounts || !jobs || !job) return undefined;
    length -= 1;
    accounts.delete(account);
    if (jobs.length > 0) accounts.set(account, jobs);
    addresses.delete(address);
    if (accounts.size > 0) addresses.set(address, accounts);
    return job;
  }

  return {
    length: () => length,

    add(job: Job): void {
      const address = addressGroup(job.client.ip);
      const accounts = addresses.get(address) ?? new Map<string, Job[]>();
      addresses.set(address, accounts);
      accounts.set(job.client.account, [...(accounts.get(job.client.account) ?? []), job]);
      length += 1;
    },

    /** Whose turn it is: each address in turn, and of an address each account. */
    next(): Job | undefined {
      const [address, accounts] = firstOf(addresses) ?? [];
      const [account] = (accounts && firstOf(accounts)) ?? [];
      return address === undefined || account === undefined ? undefined : takeFrom(address, account, 'first');
    },

    /** The newest of the account that has most, of the address that has most. */
    leastUrgent(): Job | undefined {
      const [address, accounts] = [...addresses].toSorted(([, a], [, b]) => lengthOf(a) - lengthOf(b)).at(-1) ?? [];
      const [account] = [...(accounts ?? [])].toSorted(([, a], [, b]) => a.length - b.length).at(-1) ?? [];
      return address === undefined || account === undefined ? undefined : takeFrom(address, account, 'last');
    },
  };
}

/**
 * Runs so much password work at once; the rest waits, and addresses take turns, and so do the accounts of one: who asks for much waits behind the
 * own requests (decisions H4). What waits for a request that is over is dropped before it costs anything.
 */
export function createPasswordQueue(atOnce: number) {
  const waiting = createWaiting();
  let running = 0;

  const takeNext = () => (running < atOnce ? waiting.next() : undefined);

  function start(): void {
    for (let job = takeNext(); job; job = takeNext()) {
      // work for nobody would keep those waiting who are still there
      if (job.signal?.aborted === true || performance.now() > job.latest) job.drop();
      else job.run();
    }
  }

  return {
    /** @throws requestErrors.unavailable when too many wait, when it has waited too long, and when the request is over */
    run<T>(client: PasswordClient, work: () => Promise<T>): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        waiting.add({
          client,
          signal: client.waiting?.signal,
          latest: performance.now() + WAIT_MS,
          drop: () => reject(isBusy()),
          run() {
            running += 1;
            work()
              .then(resolve, reject)
              .finally(() => {
                running -= 1;
                start();
              });
          },
        });
        start();
        if (waiting.length() > QUEUE_LENGTH) waiting.leastUrgent()?.drop();
      });
    },

    /** How much runs at this moment, and how much waits. */
    state: () => ({ running, waiting: waiting.length() }),
  };
}
