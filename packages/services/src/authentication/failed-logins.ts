import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { requestErrors } from '@tandem/core';
import { isDuplicateKey, type JointWrite, type Storage } from '@tandem/storage';
import pLimit, { type LimitFunction } from 'p-limit';
import { authenticationServiceErrors as errors } from './authentication.errors.js';
import { failedLoginModel, type FailedLoginRecord } from './failed-login.model.js';

/** Failures after which an address waits, and how long: the first, second, third and every further time (decisions A9). */
const FAILURES_TO_LOCK = 5;
const LOCK_MINUTES = [1, 5, 15, 60] as const;
const MINUTE_MS = 60_000;
/** After this time without a failure the count starts anew. */
const MEMORY_MS = 24 * 60 * MINUTE_MS;
/** For how long an attempt holds its place: longer than any takes that is still answered. */
const PLACE_MS = MINUTE_MS;
/** How often an attempt looks whether other instances have left it a place, and for how long, in milliseconds. */
const POLL_MS = 25;
const PATIENCE_MS = 10_000;
/** Places may be forgotten in a crash, unlike failures: their writes need not wait for the disk. */
const QUICK = { writeConcern: { w: 1, journal: false } } as const;

export type FailedLogins = ReturnType<typeof createFailedLogins>;

/** What an attempt tells of how it ended; when it tells nothing, nothing is counted. */
export interface Turn {
  /** Counts a failure; each fifth one starts a wait. @returns whether this one does */
  fail(): Promise<boolean>;
  /** The attempt has succeeded: the write that forgets the failures of the address, which is the caller's to do. */
  success(): JointWrite;
}

/** An address never stands in a store of attempts: most of them are somebody's typing errors. */
function keyOf(email: string): string {
  return createHash('sha256').update(email).digest('base64url');
}

/** The attempts on one address that are under way in this process. */
interface Turns {
  attempts: number;
  limit: LimitFunction;
  /** Failures that were left until the next wait, when they were fewest; unknown until the first attempt has looked. */
  left?: number;
}

function failuresLeft(failures: number): number {
  return FAILURES_TO_LOCK - (failures % FAILURES_TO_LOCK);
}

/** Counts failed logins an address, the same for known and unknown ones, and makes them wait for a growing time. */
export function createFailedLogins(storage: Storage) {
  const { clock } = storage;
  const { collection } = storage.model(failedLoginModel);
  const turnsOf = new Map<string, Turns>();

  /** Lets no more attempts on an address run at once than it has failures left. */
  function narrow(key: string, failures: number): void {
    const turns = turnsOf.get(key);
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

  /** @throws errors.locked while the address has to wait */
  function heed(key: string, { failures = 0, lockedUntil = null }: Partial<FailedLoginRecord>, now: Date): void {
    narrow(key, failures);
    if (lockedUntil !== null && lockedUntil > now) throw errors.locked();
  }

  /** @throws errors.locked while the address has to wait; @returns whether there is a place */
  async function look(key: string): Promise<boolean> {
    const projection = { failures: 1, lockedUntil: 1, underWay: 1 };
    const found = await collection.findOne({ _id: key } as object, { projection });
    const { failures = 0, underWay = [], ...rest } = (found ?? {}) as unknown as Partial<FailedLoginRecord>;
    const now = clock.now();
    heed(key, { failures, ...rest }, now);
    return underWay.filter(({ until }) => until > now).length < failuresLeft(failures);
  }

  /** Takes a place of an address that nothing is known of, as of most: cheaper than what follows. @returns whether there is none known */
  async function takeFirst(key: string, id: string): Promise<boolean> {
    const now = clock.now();
    const until = new Date(now.getTime() + PLACE_MS);
    const first = {
      _id: key,
      failures: 0,
      lockedUntil: null,
      underWay: [{ id, until }],
      createdAt: now,
      updatedAt: now,
      expiresAt: until,
    };
    try {
      await collection.insertOne(first as object, QUICK);
      return true;
    } catch (error) {
      if (isDuplicateKey(error) === false) throw error;
      return false;
    }
  }

  /**
   * Takes one of the places that are left, by one atomic write over all instances.
   * @throws errors.locked while the address has to wait; @returns whether there was one
   */
  async function tryTake(key: string, id: string): Promise<boolean> {
    const now = clock.now();
    const until = new Date(now.getTime() + PLACE_MS);
    const live = { $filter: { input: { $ifNull: ['$underWay', []] }, cond: { $gt: ['$$this.until', now] } } };
    const left = { $subtract: [FAILURES_TO_LOCK, { $mod: ['$failures', FAILURES_TO_LOCK] }] };
    // null comes before every date
    const isOpen = { $and: [{ $lte: ['$lockedUntil', now] }, { $lt: [{ $size: '$underWay' }, left] }] };
    const before = {
      failures: { $ifNull: ['$failures', 0] },
      lockedUntil: { $ifNull: ['$lockedUntil', null] },
      createdAt: { $ifNull: ['$createdAt', now] },
      updatedAt: now,
      expiresAt: { $max: ['$expiresAt', until] },
      underWay: live,
    };
    const taken = { $cond: [isOpen, { $concatArrays: ['$underWay', [{ id, until }]] }, '$underWay'] };
    const record = await write(key, [{ $set: before }, { $set: { underWay: taken } }], QUICK);
    heed(key, record, now);
    return record.underWay.some((attempt) => attempt.id === id);
  }

  /** Takes a place, and waits for one while other instances hold those that are left. @throws errors.locked, requestErrors.unavailable */
  async function take(key: string): Promise<string> {
    const id = randomUUID();
    const patience = performance.now() + PATIENCE_MS;
    // mostly there is one: only who has to wait looks before the next try
    if (await takeFirst(key, id)) return id;
    for (let mayTry = true; ; mayTry = await look(key)) {
      if (mayTry && (await tryTake(key, id))) return id;
      if (performance.now() > patience) throw requestErrors.unavailable({ retryAfter: 1 });
      await wait(POLL_MS);
    }
  }

  const others = (id: string) => ({ $filter: { input: { $ifNull: ['$underWay', []] }, cond: { $ne: ['$$this.id', id] } } });
  /** A record that nobody but this attempt needs. */
  const aloneWith = (key: string, id: string) => ({ _id: key, underWay: { $size: 1 }, 'underWay.id': id });

  /** Counts a failure and leaves the place. One atomic write, however many fail at once. */
  async function fail(key: string, id: string): Promise<boolean> {
    const now = clock.now();
    const round = { $min: [{ $subtract: [{ $divide: ['$failures', FAILURES_TO_LOCK] }, 1] }, LOCK_MINUTES.length - 1] };
    const until = { $add: [now, { $multiply: [MINUTE_MS, { $arrayElemAt: [[...LOCK_MINUTES], round] }] }] };
    const isFifth = { $eq: [{ $mod: ['$failures', FAILURES_TO_LOCK] }, 0] };
    const counted = {
      failures: { $add: [{ $ifNull: ['$failures', 0] }, 1] },
      underWay: others(id),
      createdAt: { $ifNull: ['$createdAt', now] },
      updatedAt: now,
      expiresAt: new Date(now.getTime() + MEMORY_MS),
    };
    const lockedUntil = { $cond: [isFifth, until, { $ifNull: ['$lockedUntil', null] }] };
    const { failures } = await write(key, [{ $set: counted }, { $set: { lockedUntil } }]);
    narrow(key, failures);
    return failures % FAILURES_TO_LOCK === 0;
  }

  /** Forgets the failures and leaves the place; attempts of others keep theirs. */
  function success(key: string, id: string): JointWrite {
    return {
      model: failedLoginModel,
      remove: aloneWith(key, id),
      async settled(result) {
        if (result.status === 'rejected') throw result.reason;
        if (result.value > 0) return;
        const update = [{ $set: { failures: 0, lockedUntil: null, underWay: others(id) } }];
        await collection.updateOne({ _id: key } as object, update, QUICK);
      },
    };
  }

  /** Leaves the place, and nothing is counted. What fails here ends by itself. */
  async function leave(key: string, id: string): Promise<void> {
    try {
      const { deletedCount } = await collection.deleteOne({ ...aloneWith(key, id), failures: 0 } as object, QUICK);
      if (deletedCount === 0) await collection.updateOne({ _id: key } as object, [{ $set: { underWay: others(id) } }], QUICK);
    } catch {
      // the place is free again when its time is over
    }
  }

  async function runTurn<Found, T>(
    key: string,
    read: () => Promise<Found>,
    attempt: (turn: Turn, found: Found) => Promise<T>,
  ): Promise<T> {
    // beside taking the place, which it does not need: two commands at once cost less than one after the other
    const reading = read();
    // heeded below, unless there is no place
    reading.catch(() => {});
    const id = await take(key);
    let hasEnded = false;
    const end = <R>(ending: (key: string, id: string) => R) => {
      hasEnded = true;
      return ending(key, id);
    };
    try {
      return await attempt({ fail: () => end(fail), success: () => end(success) }, await reading);
    } finally {
      if (!hasEnded) await leave(key, id);
    }
  }

  /**
   * Runs an attempt on an address when its turn has come. Guesses made at once, on however many instances, count as guesses made one
   * after another: each holds one of the failures that are left before it is compared, so that none is compared beyond the fifth.
   * @param read what the attempt is given to compare with, read when its turn has come
   * @throws errors.locked while the address has to wait; requestErrors.unavailable when its turn does not come
   */
  async function inTurnWith<Found, T>(
    email: string,
    read: () => Promise<Found>,
    attempt: (turn: Turn, found: Found) => Promise<T>,
  ): Promise<T> {
    const key = keyOf(email);
    // nobody queues behind others to be refused
    if (turnsOf.has(key)) await look(key);
    const turns = turnsOf.get(key) ?? { attempts: 0, limit: pLimit(1) };
    turnsOf.set(key, turns);
    turns.attempts++;
    try {
      return await turns.limit(() => runTurn(key, read, attempt));
    } finally {
      if (--turns.attempts === 0) turnsOf.delete(key);
    }
  }

  return {
    inTurnWith,

    /** The same for an attempt that has what it compares with. */
    inTurn: <T>(email: string, attempt: (turn: Turn) => Promise<T>): Promise<T> =>
      inTurnWith(email, () => Promise.resolve(), attempt),

    /** Forgets all failures of an address, also a wait. */
    async forget(email: string): Promise<void> {
      await collection.deleteOne({ _id: keyOf(email) } as object);
    },
  };
}
