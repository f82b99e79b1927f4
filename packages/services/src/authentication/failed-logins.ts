import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { requestErrors } from '@tandem/core';
import { isDuplicateKey, type JointWrite, type Storage } from '@tandem/storage';
import pLimit, { type LimitFunction } from 'p-limit';
import { authenticationServiceErrors as errors } from './authentication.errors.js';
import { failedLoginModel, type FailedLoginRecord } from './failed-login.model.js';
import { FAILURES_TO_LOCK, PLACE_MS, STRANGERS_FAILURES, failing, leaving, succeeding, taking } from './failed-login-writes.js';
import type { KnownPlaces, Place } from './known-places.js';

/** How often an attempt looks whether other instances have left it a place, and for how long, in milliseconds. */
const POLL_MS = 25;
const PATIENCE_MS = 10_000;
/** How often a place is given back that the store did not take back, in milliseconds. */
const LEAVE_AGAIN_MS = 500;
/** Places may be forgotten in a crash, unlike failures: their writes need not wait for the disk. */
const QUICK = { writeConcern: { w: 1, journal: false } } as const;

export type FailedLogins = ReturnType<typeof createFailedLogins>;

/** What an attempt tells of how it ended; when it tells nothing, nothing is counted. */
export interface Turn {
  /** Counts a failure. @returns whether a wait begins with it */
  fail(): Promise<boolean>;
  /** The attempt has succeeded: the writes that forget the network's failures, which are the caller's to do. */
  success(): JointWrite[];
}

/** Whose password or code is tried, and from where. */
export interface Attempt {
  email: string;
  from: Place;
}

/** The identity that has the address, if any. */
type Owner = { id: string } | undefined;

/** An address never stands in a store of attempts: most of them are somebody's typing errors. */
function keyOf(email: string): string {
  return createHash('sha256').update(email).digest('base64url');
}

/** The attempts from one network on one address that are under way in this process. */
interface Turns {
  attempts: number;
  limit: LimitFunction;
  /** Failures that were left until the next wait, when they were fewest; unknown until the first attempt has looked. */
  left?: number;
}

function failuresLeft(failures: number): number {
  return FAILURES_TO_LOCK - (failures % FAILURES_TO_LOCK);
}

/**
 * Counts failed logins an address and network, the same for known and unknown addresses, and makes that network wait for a growing time
 * (decisions A9). After many failures within an hour, from whatever networks, only places wait no longer from which somebody has signed in to
 * the account (H9).
 */
export function createFailedLogins(storage: Storage, knownPlaces: KnownPlaces) {
  const { clock } = storage;
  const { collection } = storage.model(failedLoginModel);
  const turnsOf = new Map<string, Turns>();
  const turnsKey = (key: string, network: string) => `${key} ${network}`;

  /** Lets no more attempts of a network on an address run at once than it has failures left. */
  function narrow(key: string, network: string, failures: number): void {
    const turns = turnsOf.get(turnsKey(key, network));
    if (!turns) return;
    turns.left = Math.min(turns.left ?? FAILURES_TO_LOCK, failuresLeft(failures));
    turns.limit.concurrency = turns.left;
  }

  /** One atomic write that makes the record where there is none; of two that make it at once, the store lets one try again. */
  async function write(key: string, update: object[], concern: object = {}): Promise<FailedLoginRecord> {
    const options = { upsert: true, returnDocument: 'after', ...concern } as const;
    const run = () => collection.findOneAndUpdate({ _id: key } as object, update, options);
    const record = await run().catch((error: unknown) => {
      if (isDuplicateKey(error) === false) throw error;
      return run();
    });
    return record as unknown as FailedLoginRecord;
  }

  /** @throws errors.locked while the network has to wait; @returns how many failures it has left */
  function heed(key: string, network: string, { networks = [] }: Partial<FailedLoginRecord>): number {
    const { failures = 0, lockedUntil = null } = networks.find((one) => one.network === network) ?? {};
    narrow(key, network, failures);
    if (lockedUntil !== null && lockedUntil > clock.now()) throw errors.locked();
    return failuresLeft(failures);
  }

  /** @throws errors.locked while the network has to wait; @returns whether it has a place */
  async function look(key: string, network: string): Promise<boolean> {
    const found = await collection.findOne({ _id: key } as object, { projection: { networks: 1, underWay: 1 } });
    const record = (found ?? {}) as unknown as Partial<FailedLoginRecord>;
    const left = heed(key, network, record);
    const now = clock.now();
    return (record.underWay ?? []).filter((one) => one.network === network && one.until > now).length < left;
  }

  /** Takes a place of an address that nothing is known of, as of most: cheaper than what follows. @returns whether there is none known */
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

  /** Takes a place, and waits for one while other instances hold those that are left. @throws errors.locked, requestErrors.unavailable */
  async function take(key: string, network: string, isKnown: () => Promise<boolean>): Promise<string> {
    const id = randomUUID();
    const patience = performance.now() + PATIENCE_MS;
    // mostly there is one: only who has to wait looks before the next try
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

  /** Leaves the place, and nothing is counted. @returns whether the store took it */
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

  /** Tries until the store takes it, or the place has ended by itself: nobody has to wait for an attempt that is over. */
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
    // beside taking the place, which it does not need: two commands at once cost less than one after the other
    const reading = read();
    // heeded below, unless there is no place
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
      // one of the two finds something to do; a sign-in does not fail by them, and what they leave is left below
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
   * Runs an attempt on an address when its turn has come. Guesses made at once, on however many instances, count as guesses made one
   * after another: each holds one of the failures that are left before it is compared, so that none is compared beyond them.
   * @param read whose address it is and what the attempt is given to compare with, read when its turn has come
   * @throws errors.locked while the network has to wait; requestErrors.unavailable when its turn does not come
   */
  async function inTurnWith<Found extends Owner, T>(
    { email, from }: Attempt,
    read: () => Promise<Found>,
    attempt: (turn: Turn, found: Found) => Promise<T>,
  ): Promise<T> {
    const [key, network] = [keyOf(email), knownPlaces.hashNetwork(from.ip)];
    const own = turnsKey(key, network);
    // nobody queues behind others to be refused
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

    /** The same for an attempt that has what it compares with. */
    inTurn: <T>(credentials: { id: string; email: string }, from: Place, attempt: (turn: Turn) => Promise<T>): Promise<T> =>
      inTurnWith({ email: credentials.email, from }, () => Promise.resolve(credentials), attempt),

    /** Forgets all failures of an address, from wherever, also waits. */
    async forget(email: string): Promise<void> {
      await collection.deleteOne({ _id: keyOf(email) } as object);
    },
  };
}
