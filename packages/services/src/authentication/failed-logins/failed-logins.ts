import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { requestErrors } from '@tandem/core';
import { isDuplicateKey, type JointWrite, type Storage } from '@tandem/storage';
import pLimit, { type LimitFunction } from 'p-limit';
import { authenticationServiceErrors as errors } from '../authentication.errors.js';
import { failedLoginModel, type FailedLoginRecord } from './failed-login.model.js';
import { FAILURES_TO_LOCK, PLACE_MS, STRANGERS_FAILURES, failing, leaving, succeeding, taking } from './failed-login-writes.js';
import type { KnownPlaces, Place } from './known-places.js';

/** Poll interval and maximum wait for a place held by other instances, in milliseconds. */
const POLL_MS = 25;
const PATIENCE_MS = 10_000;
/** Retry interval for freeing a place after the store failed, in milliseconds. */
const LEAVE_AGAIN_MS = 500;
/** Places, unlike failures, may be lost in a crash, so their writes need not wait for the disk. */
const QUICK = { writeConcern: { w: 1, journal: false } } as const;

export type FailedLogins = ReturnType<typeof createFailedLogins>;

/** Reports how an attempt ended. Without a report nothing is counted. */
export interface Turn {
  /** Counts a failure. @returns whether it starts a lock */
  fail(): Promise<boolean>;
  /** The attempt succeeded. Returns the writes that clear the network's failures, for the caller to perform. */
  success(): JointWrite[];
}

/** The account being tried, and the place of the attempt. */
export interface Attempt {
  email: string;
  from: Place;
}

/** The identity with the address, if any. */
type Owner = { id: string } | undefined;

/** Hashes the address, because many tried addresses are typing errors that nobody should be able to read. */
function keyOf(email: string): string {
  return createHash('sha256').update(email).digest('base64url');
}

/** Attempts in this process from one network on one address. */
interface Turns {
  attempts: number;
  limit: LimitFunction;
  /** The fewest failures left before the next lock; undefined until the first attempt has read the store. */
  left?: number;
}

function failuresLeft(failures: number): number {
  return FAILURES_TO_LOCK - (failures % FAILURES_TO_LOCK);
}

/**
 * Counts failed logins per address and network, for known and unknown addresses alike, and locks the network out for a growing
 * time (decisions A9). After many failures within an hour over all networks, only places may try from which somebody has signed
 * in to the account (H9).
 */
export function createFailedLogins(storage: Storage, knownPlaces: KnownPlaces) {
  const { clock } = storage;
  const { collection } = storage.model(failedLoginModel);
  const turnsOf = new Map<string, Turns>();
  const turnsKey = (key: string, network: string) => `${key} ${network}`;

  /** Limits the parallel attempts of a network on an address to the failures left. */
  function narrow(key: string, network: string, failures: number): void {
    const turns = turnsOf.get(turnsKey(key, network));
    if (!turns) return;
    turns.left = Math.min(turns.left ?? FAILURES_TO_LOCK, failuresLeft(failures));
    turns.limit.concurrency = turns.left;
  }

  /** One atomic upsert. When two race to insert, the loser gets a duplicate key and retries. */
  async function write(key: string, update: object[], concern: object = {}): Promise<FailedLoginRecord> {
    const options = { upsert: true, returnDocument: 'after', ...concern } as const;
    const run = () => collection.findOneAndUpdate({ _id: key } as object, update, options);
    const record = await run().catch((error: unknown) => {
      if (isDuplicateKey(error) === false) throw error;
      return run();
    });
    return record as unknown as FailedLoginRecord;
  }

  /** @throws errors.locked while the network is locked. @returns its remaining failures */
  function heed(key: string, network: string, { networks = [] }: Partial<FailedLoginRecord>): number {
    const { failures = 0, lockedUntil = null } = networks.find((one) => one.network === network) ?? {};
    narrow(key, network, failures);
    if (lockedUntil !== null && lockedUntil > clock.now()) throw errors.locked();
    return failuresLeft(failures);
  }

  /** @throws errors.locked while the network is locked. @returns whether a place is free */
  async function look(key: string, network: string): Promise<boolean> {
    const found = await collection.findOne({ _id: key } as object, { projection: { networks: 1, underWay: 1 } });
    const record = (found ?? {}) as unknown as Partial<FailedLoginRecord>;
    const left = heed(key, network, record);
    const now = clock.now();
    return (record.underWay ?? []).filter((one) => one.network === network && one.until > now).length < left;
  }

  /** Takes a place for an address without a record, the usual case, by a cheap insert. @returns whether there was no record */
  async function takeFirst(key: string, network: string, id: string): Promise<boolean> {
    const now = clock.now();
    const until = new Date(now.getTime() + PLACE_MS);
    const underWay = [{ id, network, until }];
    const first = { _id: key, networks: [], recent: [], underWay, createdAt: now, updatedAt: now, expiresAt: until };
    try {
      await collection.insertOne(first as object, QUICK);
      return true;
    } catch (error) {
      if (isDuplicateKey(error) === false) throw error;
      return false;
    }
  }

  /** Takes a place, waiting while other instances hold the remaining ones. @throws errors.locked, requestErrors.unavailable */
  async function take(key: string, network: string, isKnown: () => Promise<boolean>): Promise<string> {
    const id = randomUUID();
    const patience = performance.now() + PATIENCE_MS;
    // usually a place is free: only an attempt that has to wait reads before its next try
    if (await takeFirst(key, network, id)) return id;
    let mayPass = false;
    for (let mayTry = true; ; mayTry = await look(key, network)) {
      if (mayTry) {
        const record = await write(key, taking({ id, network, mayPass, now: clock.now() }), QUICK);
        if (record.underWay.some((attempt) => attempt.id === id)) return id;
        heed(key, network, record);
        const isForStrangers = record.recent.length + record.underWay.length < STRANGERS_FAILURES;
        if (!mayPass && !isForStrangers) {
          if (!(await isKnown())) throw errors.locked();
          mayPass = true;
          continue;
        }
      }
      if (performance.now() > patience) throw requestErrors.unavailable({ retryAfter: 1 });
      await wait(POLL_MS);
    }
  }

  /** Frees the place without counting anything. @returns whether the write succeeded */
  async function tryLeave(key: string, id: string): Promise<boolean> {
    const { alone, update } = leaving(key, id);
    try {
      const { deletedCount } = await collection.deleteOne(alone as object, QUICK);
      if (deletedCount === 0) await collection.updateOne({ _id: key } as object, update, QUICK);
      return true;
    } catch {
      return false;
    }
  }

  /** Retries until the write succeeds or the place has expired, so that nobody waits for an attempt that is over. */
  async function leaveLater(key: string, id: string): Promise<void> {
    for (const latest = performance.now() + PLACE_MS; performance.now() < latest;) {
      await wait(LEAVE_AGAIN_MS, undefined, { ref: false });
      if (await tryLeave(key, id)) return;
    }
  }

  async function runTurn<Found extends Owner, T>(
    { key, network, from }: { key: string; network: string; from: Place },
    read: () => Promise<Found>,
    attempt: (turn: Turn, found: Found) => Promise<T>,
  ): Promise<T> {
    // runs in parallel with taking a place, which does not depend on it: two parallel commands are faster than a sequence
    const reading = read();
    // awaited below, unless no place was free
    reading.catch(() => {});
    const id = await take(key, network, async () => knownPlaces.areKnown((await reading)?.id ?? key, from));
    let hasLeft = false;
    async function fail(): Promise<boolean> {
      const record = await write(key, failing({ id, network, now: clock.now() }));
      hasLeft = true;
      const { failures = 0 } = record.networks.find((one) => one.network === network) ?? {};
      narrow(key, network, failures);
      return failures % FAILURES_TO_LOCK === 0 || record.recent.length === STRANGERS_FAILURES;
    }
    function success(): JointWrite[] {
      const { alone, update } = succeeding(key, id, network);
      // exactly one of the two matches; they never fail the sign-in, and `finally` frees the place if neither has
      const settled = (result: PromiseSettledResult<number>) =>
        void (hasLeft ||= result.status === 'fulfilled' && result.value > 0);
      const model = failedLoginModel;
      return [
        { model, update: { filter: { _id: key, 'underWay.id': id, $nor: [alone] }, change: update }, settled },
        { model, remove: alone, settled },
      ];
    }
    try {
      return await attempt({ fail, success }, await reading);
    } finally {
      if (!hasLeft && !(await tryLeave(key, id))) void leaveLater(key, id);
    }
  }

  /**
   * Runs an attempt on an address in turn. Parallel guesses, on any number of instances, count like sequential ones: each
   * reserves one of the remaining failures before it is checked, so that none is checked beyond them.
   * @param read reads the owner of the address and what the attempt compares with; called in turn
   * @throws errors.locked while the network is locked; requestErrors.unavailable when no place becomes free
   */
  async function inTurnWith<Found extends Owner, T>(
    { email, from }: Attempt,
    read: () => Promise<Found>,
    attempt: (turn: Turn, found: Found) => Promise<T>,
  ): Promise<T> {
    const [key, network] = [keyOf(email), knownPlaces.hashNetwork(from.ip)];
    const own = turnsKey(key, network);
    // refuses at once, instead of after a wait in the queue
    if (turnsOf.has(own)) await look(key, network);
    const turns = turnsOf.get(own) ?? { attempts: 0, limit: pLimit(1) };
    turnsOf.set(own, turns);
    turns.attempts++;
    try {
      return await turns.limit(() => runTurn({ key, network, from }, read, attempt));
    } finally {
      if (--turns.attempts === 0) turnsOf.delete(own);
    }
  }

  return {
    inTurnWith,

    /** Like `inTurnWith`, for an attempt whose credentials are already read. */
    inTurn: <T>(credentials: { id: string; email: string }, from: Place, attempt: (turn: Turn) => Promise<T>): Promise<T> =>
      inTurnWith({ email: credentials.email, from }, () => Promise.resolve(credentials), attempt),

    /** Clears all failures and locks of an address, for all networks. */
    async forget(email: string): Promise<void> {
      await collection.deleteOne({ _id: keyOf(email) } as object);
    },
  };
}
