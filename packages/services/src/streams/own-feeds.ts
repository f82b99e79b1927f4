import { Feed, atMost, describeError, type EventBus, type Log, type Reader } from '@tandem/core';
import { createGate } from '@tandem/list-query';
import { toListFailure } from '@tandem/lists';
import { LRUCache } from 'lru-cache';
import type { ChatService } from '../chat/chat.service.js';
import { OWN_TOPIC, type OwnChange } from '../chat/own-changes.js';
import type { Place } from '../chat/places.js';
import type { OwnEvent } from './own-frames.js';

/** How long changes of unread counts are collected, in milliseconds. */
const MERGED_MS = 100;
/** Delay before a failed read of the store is retried, in milliseconds. */
const RETRY_MS = 1000;
/** Whose channels are read at once; of each, one read at a time. */
const READS = { atOnce: 4, rest: 1, waitMs: 60_000, waitingMax: 5000 };

/** Maximum number of channels remembered as gone. */
const GONE_MAX = 10_000;

interface KnownPlace extends Place {
  told: { unread: number; lastSeq: number };
}

/** The channels of an identity with readers in this process. */
class OwnFeed extends Feed {
  readonly channels = new Map<string, KnownPlace>();
  readonly changed = new Set<string>();
  /** The first read of the channels. */
  begun: Promise<void> | undefined = undefined;
  /** The channels to read again; `all` after events may have been lost. */
  asked: Set<string> | 'all' | undefined = undefined;
  isAsking = false;
}

const unreadIn = ({ lastSeq, readSeq }: Place) => Math.max(0, lastSeq - readSeq);

/** Who has left and joined again is another member. */
function isKnown({ channels }: OwnFeed, channelId: string, places: ReadonlyMap<string, Place>): boolean {
  return channels.get(channelId)?.subscriptionId === places.get(channelId)?.subscriptionId;
}

interface OwnFeedsOptions {
  bus: EventBus;
  chat: Pick<ChatService, 'placesOf' | 'membersAmong' | 'channels'>;
  log: Log;
}
export type OwnFeeds = ReturnType<typeof createOwnFeeds>;

/**
 * Tells identities of all their channels (decisions C2). A process that has readers hears each post once, and finds by the channel
 * which of its readers are members: what a post costs does not grow with members who do not listen.
 */
export function createOwnFeeds({ bus, chat, log }: OwnFeedsOptions) {
  const feeds = new Map<string, OwnFeed>();
  const byChannel = new Map<string, Set<OwnFeed>>();
  const changed = new Set<OwnFeed>();
  /** Channels that some members here were told are gone: when they come back, those who look first are not their only members. */
  const gone = new LRUCache<string, true>(atMost(GONE_MAX));
  /** During reads: the channels of which something was heard meanwhile. */
  const reading = new Set<Set<string>>();
  const inTurn = createGate(READS);
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;

  function hear(change: OwnChange): void {
    const { channelId } = change;
    for (const heard of reading) heard.add(channelId);
    const members = byChannel.get(channelId);
    if (change.type === 'posted') for (const feed of members ?? []) move(feed, channelId, { lastSeq: change.seq });
    else if (change.type === 'deleted') for (const feed of members ?? []) remove(feed, channelId);
    else if (change.type === 'missed') for (const feed of members ?? []) ask(feed, [channelId]);
    else if (change.type === 'changed') {
      const wasGone = gone.delete(channelId);
      if (!members || wasGone) void askMembers(channelId);
    } else {
      const feed = feeds.get(change.identityId);
      if (feed && change.type === 'read') move(feed, channelId, { readSeq: change.seq });
      else if (feed) ask(feed, [channelId]);
    }
  }

  /** Numbers only grow. */
  function move(feed: OwnFeed, channelId: string, { lastSeq = 0, readSeq = 0 }: Partial<Place>): void {
    const place = feed.channels.get(channelId);
    if (!place) return;
    place.lastSeq = Math.max(place.lastSeq, lastSeq);
    place.readSeq = Math.max(place.readSeq, readSeq);
    feed.changed.add(channelId);
    changed.add(feed);
    timer ??= setTimeout(flush, MERGED_MS).unref();
  }

  function flush(): void {
    timer = undefined;
    for (const feed of changed) {
      for (const channelId of feed.changed) {
        const place = feed.channels.get(channelId);
        if (!place) continue;
        const { lastSeq, told } = place;
        const unread = unreadIn(place);
        if (unread === told.unread && (unread === 0 || lastSeq === told.lastSeq)) continue;
        place.told = { unread, lastSeq };
        tell(feed, { type: 'unread', channelId, unread, lastSeq });
      }
      feed.changed.clear();
    }
    changed.clear();
  }

  function tell(feed: OwnFeed, event: OwnEvent): void {
    feed.deliver(event);
  }

  function add(feed: OwnFeed, channelId: string, place: Place, told: number): void {
    feed.channels.set(channelId, { ...place, told: { unread: told, lastSeq: place.lastSeq } });
    byChannel.set(channelId, (byChannel.get(channelId) ?? new Set()).add(feed));
  }

  function forget(feed: OwnFeed, channelId: string): boolean {
    const members = byChannel.get(channelId);
    members?.delete(feed);
    if (members?.size === 0) byChannel.delete(channelId);
    return feed.channels.delete(channelId);
  }

  function remove(feed: OwnFeed, channelId: string): void {
    if (!forget(feed, channelId)) return;
    gone.set(channelId, true);
    tell(feed, { type: 'channel.removed', channelId });
  }

  /** A channel may have come back with its members. */
  async function askMembers(channelId: string): Promise<void> {
    try {
      const members = await chat.membersAmong(new Map([[channelId, new Set(feeds.keys())]]));
      for (const identityId of members.get(channelId) ?? []) {
        const feed = feeds.get(identityId);
        if (feed) ask(feed, [channelId]);
      }
    } catch (error) {
      log.warn({ err: describeError(error) }, 'the members of a channel could not be looked up');
      setTimeout(() => void askMembers(channelId), RETRY_MS).unref();
    }
  }

  function ask(feed: OwnFeed, asked: Iterable<string> | 'all'): void {
    if (asked === 'all' || feed.asked === 'all') feed.asked = 'all';
    else feed.asked = new Set([...(feed.asked ?? []), ...asked]);
    void work(feed);
  }

  async function work(feed: OwnFeed): Promise<void> {
    if (feed.isAsking) return;
    feed.isAsking = true;
    // a read that fails ends its readers, or they ask again
    await feed.begun?.catch(() => {});
    while (feed.asked !== undefined && feed.readers.size > 0) {
      const { asked } = feed;
      feed.asked = undefined;
      try {
        await read(feed, asked === 'all' ? undefined : [...asked]);
      } catch (error) {
        log.warn({ err: describeError(error) }, 'the channels of an open stream could not be read');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
        ask(feed, asked);
      }
    }
    feed.isAsking = false;
  }

  /** Brings what is known of some or all channels up to the store, and tells of the difference but for the first read. */
  async function read(feed: OwnFeed, among?: readonly string[], isFirst = false): Promise<void> {
    const heard = new Set<string>();
    reading.add(heard);
    const { places, shown } = await inTurn({ key: feed.id, isAnonymous: false }, async () => {
      const found = await chat.placesOf(feed.id, among);
      const come = isFirst ? [] : [...found.keys()].filter((id) => !isKnown(feed, id, found));
      return { places: found, shown: come.length > 0 ? await chat.channels.shown(come) : undefined };
    }).finally(() => reading.delete(heard));
    if (feed.readers.size === 0) return;
    for (const id of among ?? [...feed.channels.keys()])
      if (feed.channels.has(id) && !isKnown(feed, id, places)) remove(feed, id);
    const again: string[] = [];
    for (const [id, place] of places) {
      if (!feed.channels.has(id)) {
        if (heard.has(id)) again.push(id);
        add(feed, id, place, isFirst ? unreadIn(place) : 0);
        const channel = shown?.get(id);
        if (channel) tell(feed, { type: 'channel.added', channel });
      }
      move(feed, id, place);
    }
    if (again.length > 0) ask(feed, again);
  }

  function open(identityId: string): OwnFeed {
    const feed = new OwnFeed(identityId);
    feeds.set(identityId, feed);
    const resume = () => {
      for (const one of feeds.values()) ask(one, 'all');
    };
    stop ??= bus.subscribe(OWN_TOPIC, (event) => hear(event as OwnChange), resume);
    return feed;
  }

  function leave(reader: Reader): void {
    const feed = feeds.get(reader.identityId);
    if (!feed?.readers.delete(reader) || feed.readers.size > 0) return;
    feeds.delete(feed.id);
    changed.delete(feed);
    for (const channelId of feed.channels.keys()) forget(feed, channelId);
    if (feeds.size > 0) return;
    stop?.();
    stop = undefined;
  }

  return {
    /**
     * Starts reading. The reader then receives all that changes after the returned state.
     * @throws requestErrors.tooMany when the identity has as many readers as allowed; requestErrors.unavailable when the wait takes
     * too long
     */
    async start(reader: Reader): Promise<OwnEvent[]> {
      const feed = feeds.get(reader.identityId) ?? open(reader.identityId);
      feed.checkRoom(reader.identityId);
      feed.readers.add(reader);
      try {
        await (feed.begun ??= read(feed, undefined, true));
      } catch (error) {
        leave(reader);
        throw toListFailure(error);
      }
      return [...feed.channels].flatMap(([channelId, place]) => {
        const unread = unreadIn(place);
        return unread > 0 ? { type: 'unread' as const, channelId, unread, lastSeq: place.lastSeq } : [];
      });
    },

    leave,
  };
}
