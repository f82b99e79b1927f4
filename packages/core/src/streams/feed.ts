import { requestErrors } from '../errors.js';
import type { EventBus } from '../events.js';

/** What reads a feed: a socket's subscription, or an answer that is streamed. */
export interface Reader {
  readonly identityId: string;
  /** Hands on an event, as it is and as a text that was made once for all readers. Must not throw. */
  take(event: object, text: Buffer): void;
}

/** A text that many sockets get: made once (decisions S6). */
export function textOf(frame: object): Buffer {
  return Buffer.from(JSON.stringify(frame));
}

/** Subscriptions of one identity to one topic: each event is told as often. More than it may have connections. */
const READERS_MAX = 200;

/** Those in this process who read one topic. */
export class Feed {
  readonly readers = new Set<Reader>();
  /** Ends the subscription of the bus. */
  stop: () => void = () => {};

  constructor(readonly id: string) {}

  /** @throws requestErrors.tooMany where an identity reads it by as many subscriptions as it may */
  checkRoom(identityId: string): void {
    let room = READERS_MAX;
    for (const reader of this.readers) if (reader.identityId === identityId) room -= 1;
    if (room <= 0) throw requestErrors.tooMany();
  }

  /** @param except readers of this identity get nothing */
  deliver(event: object, except?: string): void {
    if (this.readers.size === 0) return;
    const text = textOf(event);
    for (const reader of this.readers) if (reader.identityId !== except) reader.take(event, text);
  }
}

interface FeedsOptions<F extends Feed> {
  topicOf(id: string): string;
  create(id: string): F;
  /** Something was published on the topic. */
  onEvent(feed: F, event: object): void;
  /** Events may have been missed: see `EventBus`. */
  onResumed(feed: F): void;
}

/** The feeds of a process: one subscription of the bus for each topic, from its first reader to its last (decisions S6). */
export function createFeeds<F extends Feed>(bus: EventBus, { topicOf, create, onEvent, onResumed }: FeedsOptions<F>) {
  const feeds = new Map<string, F>();
  return {
    all: (): Iterable<F> => feeds.values(),
    isEmpty: (): boolean => feeds.size === 0,
    get: (id: string): F | undefined => feeds.get(id),

    join(id: string, reader: Reader): F {
      const known = feeds.get(id);
      const feed = known ?? create(id);
      feed.readers.add(reader);
      if (known) return feed;
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
