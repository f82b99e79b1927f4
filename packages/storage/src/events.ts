import { setTimeout as wait } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import type { Clock } from './clock.js';
import { lastEvent, readEvents, type EventPage, type EventQuery, type LoggedEvent } from './event-log.js';
import type { BeforeCleared, Following, IdsBeforeCleared } from './before-cleared.js';
import { createEventRelay } from './event-relay.js';
import type { Log } from './log.js';
import { asSystem, type Traced } from './traces.js';

/**
 * How long changes are collected before they are appended, in milliseconds: the longer, the longer that takes, so that a
 * busy store does it for more of them at once; up to a limit.
 */
const COLLECTED_MS = 40;
const COLLECTED_TURNS = 8;
const COLLECTED_MAX_MS = 500;
/** Pause before another attempt, while another process appends, and after a failure. */
const BUSY_MS = 100;
const FAILED_MS = 2000;
/** How long a read waits for what this process has written before, while another appends, and between two attempts. */
const SETTLED_MS = 5000;
const RETRY_MS = 25;

export interface EventFeed {
  /** Reads the log, after what this process has written. */
  read(query: EventQuery): Promise<EventPage>;
  /** Those of some events that are there. */
  byIds(ids: readonly string[]): Promise<LoggedEvent[]>;
  /** The id of the last event that may be shown; null before the first. */
  last(): Promise<string | null>;
  /** Appends what waits, unless another process does. */
  relay(): Promise<unknown>;
  /**
   * Runs with events of some types, at least once for each, when they stand in the log and before their records forget
   * them: so that what should follow a change follows it, whichever process dies. Until it succeeds nothing else is told.
   * @param having only events whose state has this field, which is neither null nor an empty list
   */
  beforeCleared(types: readonly string[], run: BeforeCleared['run'], having?: string): void;
  /** The same with the ids of the records alone, which reads no events. */
  idsBeforeCleared(types: readonly string[], runOnIds: IdsBeforeCleared['runOnIds']): void;
  /** Calls `listener` when all that waited is in the log, with the id of the last event if this process has appended it. */
  onAppended(listener: (last: string | undefined) => void): void;
  /** How long events are kept, in milliseconds; default 30 days. */
  keep(milliseconds: number): void;
}

interface EventFeedOptions {
  database: () => mongo.Db;
  clock: Clock;
  log: Log;
  traced(): ReadonlyMap<string, Traced>;
  maxTimeMS: number;
}

/** Of a pass: all that waited is appended; another process appends; the store failed. */
type Outcome = 'appended' | 'busy' | 'failed';

/** The log of all changes of traced records (decisions E1). Changes are appended soon after they are made. */
export function createEventFeed({ database, clock, log, traced, maxTimeMS }: EventFeedOptions) {
  const listeners: ((last: string | undefined) => void)[] = [];
  const beforeCleared: Following[] = [];
  let retention = 30 * 24 * 60 * 60_000;
  let opened: ReturnType<typeof createEventRelay> | undefined;
  const relayOf = () =>
    (opened ??= createEventRelay({
      database: database(),
      clock,
      traced,
      beforeCleared,
      retentionMs: () => retention,
      maxTimeMS,
    }));
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<Outcome> | undefined;
  let isWanted = false;
  /** Counts writes: all, and those up to which everything is in the log. */
  let [made, appended] = [0, 0];
  let isClosed = false;
  let collectedMs = COLLECTED_MS;

  async function pass(): Promise<Outcome> {
    isWanted = false;
    clearTimeout(timer);
    timer = undefined;
    const before = made;
    const begun = performance.now();
    try {
      const relayed = await relayOf().relay();
      if (!relayed) {
        later(BUSY_MS);
        return 'busy';
      }
      appended = before;
      const turns = COLLECTED_TURNS * (performance.now() - begun);
      collectedMs = Math.min(Math.max(COLLECTED_MS, turns), COLLECTED_MAX_MS);
      for (const listener of listeners) listener(relayed.last);
      return 'appended';
    } catch (error) {
      log.warn({ err: error }, 'events could not be appended; they are tried again');
      later(FAILED_MS);
      return 'failed';
    }
  }

  function later(milliseconds: number): void {
    if (isClosed) return;
    isWanted = true;
    timer ??= setTimeout(() => {
      timer = undefined;
      void relay();
    }, milliseconds).unref();
  }

  /** One pass at a time. */
  async function relay(): Promise<Outcome> {
    if (running) {
      isWanted = true;
      return running;
    }
    running = asSystem(pass).finally(() => {
      running = undefined;
      if (isWanted) later(collectedMs);
    });
    return running;
  }

  /** What this process has written comes first; also while another one appends, which has not seen it yet. */
  async function settle(): Promise<void> {
    const written = made;
    const isBehind = () => appended < written;
    if (!isBehind()) return;
    const over = new AbortController();
    const late = wait(SETTLED_MS, 'late' as const, { ref: false, signal: over.signal }).catch(() => 'late' as const);
    for (let outcome: Outcome | 'late' = 'appended'; isBehind() && outcome !== 'failed' && outcome !== 'late';) {
      if (outcome === 'busy') await wait(RETRY_MS);
      outcome = await Promise.race([relay(), late]);
    }
    over.abort();
  }

  return {
    /** A collection has been written. */
    written(collectionName: string): void {
      if (collectionName === 'units' ? traced().size === 0 : !traced().has(collectionName)) return;
      made++;
      later(collectedMs);
    },

    async read(query: EventQuery): Promise<EventPage> {
      await settle();
      return readEvents(relayOf(), query);
    },
    byIds: (ids: readonly string[]): Promise<LoggedEvent[]> =>
      relayOf()
        .events.find({ _id: { $in: [...ids] } }, { maxTimeMS })
        .toArray(),
    async last(): Promise<string | null> {
      await settle();
      return lastEvent(relayOf());
    },

    relay,
    beforeCleared: (types: readonly string[], run: BeforeCleared['run'], having?: string) =>
      void beforeCleared.push({ types: new Set(types), having, run }),
    idsBeforeCleared: (types: readonly string[], runOnIds: IdsBeforeCleared['runOnIds']) =>
      void beforeCleared.push({ types: new Set(types), runOnIds }),
    onAppended: (listener: (last: string | undefined) => void) => void listeners.push(listener),
    keep(milliseconds: number): void {
      retention = milliseconds;
    },

    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
