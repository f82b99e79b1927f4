import { requestErrors } from '../errors.js';
import type { EventBus } from '../events.js';

/** A consumer of a feed: a socket's subscription, or a streamed answer. */
export interface Reader {
  readonly identityId: string;
  /** Receives an event, as an object and as text serialized once for all readers. Must not throw. */
  take(event: object, text: Buffer): void;
}

/** Serializes a frame once for many sockets (decisions S6). */
export function textOf(frame: object): Buffer {
  return Buffer.from(JSON.stringify(frame));
}

/**
 * Most subscriptions of one identity to one topic, because each receives every event. Larger than the limit of its
 * connections.
 */
const READERS_MAX = 200;

/** The readers of one topic in this process. */
export class Feed {
  readonly readers = new Set<Reader>();
  /** Ends the subscription of the bus. */
  stop: () => void = () => {};

  constructor(readonly id: string) {}

  /** @throws requestErrors.tooMany when the identity has as many subscriptions as allowed */
  checkRoom(identityId: string): void {
    let room = READERS_MAX;
    for (const reader of this.readers) if (reader.identityId === identityId) room -= 1;
    if (room <= 0) throw requestErrors.tooMany();
  }

  /**
   * @param except readers of this identity get nothing
   * @param to those that get it, if they still read
   */
  deliver(event: object, except?: string, to: Iterable<Reader> = this.readers): void {
    let text: Buffer | undefined;
    for (const reader of to)
      if (reader.identityId !== except && this.readers.has(reader)) reader.take(event, (text ??= textOf(event)));
  }
}

interface FeedsOptions<F extends Feed> {
  topicOf(id: string): string;
  create(id: string): F;
  /** An event was published on the topic. */
  onEvent(feed: F, event: object): void;
  /** Events may have been missed: see `EventBus`. */
  onResumed(feed: F): void;
}

/**
 * The feeds of a process: one bus subscription per topic, shared by all its readers and held from the first to the last
 * (decisions S6).
 */
export function createFeeds<F extends Feed>(bus: EventBus, { topicOf, create, onEvent, onResumed }: FeedsOptions<F>) {
  const feeds = new Map<string, F>();
  return {
    all: (): Iterable<F> => feeds.values(),
    isEmpty: (): boolean => feeds.size === 0,
    get: (id: string): F | undefined => feeds.get(id),

    join(id: string, reader: Reader): F {
      const existing = feeds.get(id);
      const feed = existing ?? create(id);
      feed.readers.add(reader);
      if (existing) return feed;
      feeds.set(id, feed);
      feed.stop = bus.subscribe(
        topicOf(id),
        (event) => onEvent(feed, event),
        () => onResumed(feed),
      );
      return feed;
    },

    /** @returns whether it was a reader of the feed */
    leave(feed: F, reader: Reader): boolean {
      if (!feed.readers.delete(reader)) return false;
      if (feed.readers.size === 0 && feeds.get(feed.id) === feed) {
        feeds.delete(feed.id);
        feed.stop();
      }
      return true;
    },
  };
}
export type Feeds<F extends Feed> = ReturnType<typeof createFeeds<F>>;
