import { addressGroup, requestErrors } from '@tandem/core';

/** Maximum number of waiting jobs, and the seconds after which a client may retry when the queue is full. */
const QUEUE_LENGTH = 200;
const RETRY_AFTER_BUSY = 5;
/** Maximum wait, in milliseconds; requests that wait longer are about to time out. */
const WAIT_MS = 10_000;

/** The client for whom a password is hashed or compared. */
export interface PasswordClient {
  ip: string;
  /** The account's email. */
  account: string;
  /** `signal` aborts when the request is over. */
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

/** The oldest entry of a map, which keeps insertion order. */
function firstOf<K, V>(map: Map<K, V>): [K, V] | undefined {
  return map.entries().next().value;
}

/** Waiting jobs, by address and then by account. */
function createWaiting() {
  const addresses = new Map<string, Map<string, Job[]>>();
  let length = 0;
  const lengthOf = (accounts: Map<string, Job[]>) => [...accounts.values()].reduce((sum, jobs) => sum + jobs.length, 0);

  /** Removes a job, and moves its address and account behind all others. */
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

    /** The next job: addresses take turns, and so do the accounts of an address. */
    next(): Job | undefined {
      const [address, accounts] = firstOf(addresses) ?? [];
      const [account] = (accounts && firstOf(accounts)) ?? [];
      return address === undefined || account === undefined ? undefined : takeFrom(address, account, 'first');
    },

    /** Removes the newest job of the account with most jobs at the address with most jobs. */
    leastUrgent(): Job | undefined {
      const [address, accounts] = [...addresses].toSorted(([, a], [, b]) => lengthOf(a) - lengthOf(b)).at(-1) ?? [];
      const [account] = [...(accounts ?? [])].toSorted(([, a], [, b]) => a.length - b.length).at(-1) ?? [];
      return address === undefined || account === undefined ? undefined : takeFrom(address, account, 'last');
    },
  };
}

/**
 * Runs a limited number of password jobs at once and queues the rest. Addresses take turns, and so do the accounts of an address,
 * so that a caller with many jobs waits behind its own (decisions H4). Jobs of finished requests are dropped before they cost
 * anything.
 */
export function createPasswordQueue(atOnce: number) {
  const waiting = createWaiting();
  let running = 0;

  const takeNext = () => (running < atOnce ? waiting.next() : undefined);

  function start(): void {
    for (let job = takeNext(); job; job = takeNext()) {
      // work for finished requests would delay those still waiting
      if (job.signal?.aborted === true || performance.now() > job.latest) job.drop();
      else job.run();
    }
  }

  return {
    /** @throws requestErrors.unavailable when the queue is full, the wait was too long, or the request is over */
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

    /** Numbers of running and waiting jobs. */
    state: () => ({ running, waiting: waiting.length() }),
  };
}
