import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { describeError, type EventBus, type Log } from '@tandem/core';
import {
  BESIDE,
  defineModel,
  isDuplicateKey,
  leaseFor,
  takeLease,
  timeInStore,
  type BaseRecord,
  type Storage,
} from '@tandem/storage';
import { createEventTail } from './event-tail.js';
import type { EventHandlers } from './event-records.js';
import { expandType } from './event-types.js';
import { eventErrors } from './events.errors.js';
import type { DomainEvent } from './events.schemas.js';
import type { EventsService } from './events.service.js';

/** How far somebody has followed the log, and which process does so, until a time of the store's. */
interface FollowerRecord extends BaseRecord {
  /** The last event that is done; null before the first. */
  cursor: string | null;
  owner: string | null;
  leaseUntil: Date;
}
export const followerModel = defineModel<FollowerRecord>('eventFollowers', {
  softDelete: false,
  fields: { cursor: String, owner: String, leaseUntil: Date },
  indexes: [],
});

/** How long a process holds a follower without renewing, and how often it renews, in milliseconds. */
const LEASE_MS = 30_000;
const RENEWED_MS = 10_000;
/** How often other processes ask for it. */
const ASKED_MS = 5000;
/** How often followers look for events of other instances, where the bus does not tell. */
const LOOKED_MS = 5000;
/** Waits after failures, doubled from the first to the last. */
const FAILED_MS = { first: 1000, last: 60_000 };
const PAGE = 100;
/** How old a page may be when some of it is handed over, in milliseconds: an erasure may have cleaned the log since. */
const FRESH_MS = 2000;
/** How long a stop waits for what is under way. */
const STOP_MS = 10_000;

export interface Follower {
  /** Names it in the store: who follows under this name goes on where the last one ended. */
  name: string;
  /** `order.*,product.created`; default all. */
  types?: string;
  /** Called with the next events until it returns: after a failure, and after a crash, again. */
  handle(events: readonly DomainEvent[]): unknown;
  /** How many events it takes at once, at most. */
  atOnce: number;
  /** Whether there is anything to do with events; if not, they are passed over unread. Asked after they have happened. */
  isNeeded?(): Promise<boolean>;
}

interface FollowersOptions {
  /** Measures the leases. */
  storage: Storage;
  events: EventsService;
  bus: EventBus;
  log: Log;
}

/** The follower is another process's by now. */
class Lost extends Error {}

/**
 * Follows the log of events, each follower in one process at a time, from its making on (docs/embedding.md).
 */
export function createEventFollowers({ storage, events, bus, log }: FollowersOptions) {
  const { collection } = storage.model(followerModel);
  const { clock } = storage;
  const owner = randomUUID();
  const followers: Follower[] = [];
  const stopped = new AbortController();
  const appended = createEventTail(bus, events.last, LOOKED_MS);
  let running: Promise<unknown>[] = [];

  const own = (name: string) => ({ _id: name, owner }) as object;

  /** @returns the follower's state, undefined while another process has it */
  async function take(name: string): Promise<FollowerRecord | undefined> {
    const set = takeLease(clock, owner, LEASE_MS);
    const state = await collection.findOneAndUpdate({ _id: name } as object, [{ $set: set }], {
      returnDocument: 'after',
      ...BESIDE,
    });
    if (state) return state['owner'] === owner ? (state as unknown as FollowerRecord) : undefined;
    const now = clock.now();
    const first = {
      _id: name,
      cursor: await events.last(),
      owner: null,
      leaseUntil: new Date(0),
      createdAt: now,
      updatedAt: now,
    };
    await collection.insertOne(first as object, BESIDE).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
    return take(name);
  }

  /** @throws Lost */
  async function write(name: string, set: object): Promise<void> {
    const { matchedCount } = await collection.updateOne(own(name), [{ $set: set }], BESIDE);
    if (matchedCount === 0) throw new Lost();
  }

  /** Handles a page of events, or as much as is fresh, or passes over all up to `end`. @returns where it went on to */
  async function pass({ name, types, handle, atOnce, isNeeded }: Follower, cursor: string, end: string): Promise<string> {
    const move = async (to: string) => {
      if (to !== cursor) await write(name, { cursor: { $literal: to === '' ? null : to } });
      return to;
    };
    if (isNeeded && !(await isNeeded())) return move(end);
    // who has stood still may have lost it to another process, which handles them
    await write(name, leaseFor(clock, LEASE_MS));
    const since = cursor === '' ? undefined : cursor;
    const readAt = clock.now().getTime();
    const isOld = () => Math.abs(clock.now().getTime() - readAt) > FRESH_MS;
    const page = await events.read({ since, types, limit: PAGE }, true).catch((error: unknown) => {
      if (!eventErrors.gone.matches(error)) throw error;
      log.error({ follower: name }, 'events were removed before they were handled');
      return events.read({ types, limit: PAGE }, true);
    });
    for (let at = 0; at < page.data.length; at += atOnce) {
      if (stopped.signal.aborted) return cursor;
      const some = page.data.slice(at, at + atOnce);
      await handle(some);
      if (at + atOnce >= page.data.length) break;
      const done = await move(some.at(-1)?.id ?? cursor);
      if (isOld()) return done;
    }
    return move(page.nextSince ?? '');
  }

  /** Follows from a cursor on while this process has the follower, whose lease it renews meanwhile. @throws Lost */
  async function hold(follower: Follower, from: string, onPassed: () => void): Promise<void> {
    const lost = new AbortController();
    // also if the stop came while it was being taken
    const over = AbortSignal.any([stopped.signal, lost.signal]);
    const renew = () => write(follower.name, leaseFor(clock, LEASE_MS));
    const onFailure = (error: unknown) => error instanceof Lost && lost.abort();
    const timer = setInterval(() => void renew().catch(onFailure), RENEWED_MS).unref();
    try {
      let [cursor, last] = [from, (await events.last()) ?? ''];
      while (!over.aborted) {
        const next = cursor < last ? await pass(follower, cursor, last) : cursor;
        if (next === cursor) last = await appended(cursor, over);
        else onPassed();
        cursor = next;
      }
    } finally {
      clearInterval(timer);
    }
  }

  async function follow(follower: Follower): Promise<void> {
    const { signal } = stopped;
    const rest = (milliseconds: number) => pause(milliseconds, undefined, { signal, ref: false }).catch(() => {});
    let failures = 0;
    while (!signal.aborted) {
      try {
        const state = await take(follower.name);
        if (state) await hold(follower, state.cursor ?? '', () => (failures = 0));
        else await rest(ASKED_MS);
      } catch (error) {
        if (error instanceof Lost) continue;
        log.error({ err: describeError(error), follower: follower.name }, 'an event could not be handled; it is tried again');
        await rest(Math.min(FAILED_MS.first * 2 ** failures++, FAILED_MS.last));
      }
    }
    await write(follower.name, { leaseUntil: timeInStore(clock) }).catch(() => {});
  }

  return {
    /** Adds a follower; before `start`. */
    add(follower: Follower): void {
      followers.push(follower);
    },

    start(): void {
      running = followers.map((follower) => follow(follower));
    },

    /** Ends all, after what is under way, for ten seconds at most. */
    async stop(): Promise<void> {
      stopped.abort();
      await Promise.race([Promise.all(running), pause(STOP_MS, undefined, { ref: false })]);
    },
  };
}

/**
 * The followers of a host's handlers.
 * @param kinds those of which events tell
 * @throws Error for a type of events that does not exist
 */
export function handlersIn(on: EventHandlers, kinds: readonly string[]): Follower[] {
  return Object.entries(on).map(([pattern, handler]) => {
    const handleOne = handler as (event: DomainEvent) => unknown;
    if (expandType(pattern, kinds).length === 0) throw new Error(`on: there are no events "${pattern}"`);
    return { name: `on ${pattern}`, types: pattern, atOnce: 1, handle: ([event]) => event && handleOne(event) };
  });
}
