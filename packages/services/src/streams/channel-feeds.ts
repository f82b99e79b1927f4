import { setTimeout as wait } from 'node:timers/promises';
import { Feed, createFeeds, describeError, requestErrors, type EventBus, type Log, type Reader } from '@tandem/core';
import { createGate } from '@tandem/list-query';
import { toListFailure } from '@tandem/lists';
import type { ChannelChange } from '../chat/channel-changes.js';
import { channelTopic, publishChatEvent, type ChatEvent, type LastingEvent, type StoredUpTo } from '../chat/chat-events.js';
import type { ChatService } from '../chat/chat.service.js';
import type { End } from '../chat/message-log.js';
import type { SenderCards } from './sender-cards.js';

/** Changes per read from the store. */
const PAGE = 100;
/** How long a change waits for an earlier one from another instance before the store is read, in milliseconds. */
const DISORDER_MS = 20;
/** Delay before a failed read of the store is retried, in milliseconds. */
const RETRY_MS = 1000;
/** Maximum number of held-back events. Beyond it only lasting changes are guaranteed to arrive. */
const HELD_MAX = 1000;
/** Channels with more readers in this process send no presence, which would cost one frame per reader for each reader. */
const PRESENCE_MAX = 50;
/**
 * Interval between membership checks, and how long what removed a member has to arrive before its reader is removed unheard, in
 * milliseconds: a removal must take effect within a second (decisions S4).
 */
const CHECK_MS = 700;
const REMOVAL_MS = 100;
/**
 * An identity starts reading one channel at a time, with a pause after each, because thousands of starts at once would block
 * other requests. A client that reconnects to a thousand channels needs about ten seconds. `waitMs` is in milliseconds.
 */
const STARTS = { atOnce: Infinity, rest: 3, waitMs: 60_000, waitingMax: 5000 };

/** A reader of a channel. */
export interface ChannelReader extends Reader {
  /** The last numbers that a replay has to cover; what is later arrives live. Set before `start` resolves. */
  from: End | undefined;
  /** Whether it still wants the events. */
  readonly isReading: boolean;
  /** Whether its messages have their senders. */
  readonly hasSenders: boolean;
  /** Called when the reader was removed from the channel, or the channel was deleted. Must not throw. */
  removed(): void;
}

/** The events of a channel, with lasting changes in the order of their numbers. */
class ChannelFeed extends Feed {
  declare readonly readers: Set<ChannelReader>;
  /** The numbers of the last change and message sent to readers; undefined until they are read from the store. */
  position: End | undefined = undefined;
  /** Events that arrived too early; undefined while nothing has to wait. */
  held: ChatEvent[] | undefined = [];
  timer: NodeJS.Timeout | undefined = undefined;
  /** The number up to which changes are known to be stored, if it is beyond the position. */
  stored = 0;
  isAsking = false;
  /** Whether changes may have been missed since the last read of the store. */
  hasMissed = false;
  /** Ends when the readers that wait for senders have got all events; undefined while they wait for none. */
  expanding: Promise<void> | undefined = undefined;
}

const isLasting = (event: ChatEvent): event is LastingEvent => 'change' in event;

/** Where a reader begins: what `subscribed` tells. */
interface Begun {
  lastSeq: number;
  lastChange: number;
  unread: number;
}

interface ChannelFeedsOptions {
  bus: EventBus;
  chat: ChatService;
  senders: SenderCards;
  log: Log;
}

export type ChannelFeeds = ReturnType<typeof createChannelFeeds>;

/**
 * Sends the events of channels to their readers in this process. Instances announce changes as they store them, so those of two
 * instances may arrive out of order; the feed sorts them. A reader that has a number has therefore received every lower one, and
 * can resume from it on any instance (decisions S3, C1).
 */
export function createChannelFeeds({ bus, chat, senders, log }: ChannelFeedsOptions) {
  const feeds = createFeeds<ChannelFeed>(bus, {
    topicOf: channelTopic,
    create: (channelId) => new ChannelFeed(channelId),
    onEvent: (feed, event) => hear(feed, event as ChatEvent | StoredUpTo),
    onResumed: (feed) => void ask(feed),
  });
  const inTurn = createGate(STARTS);
  let timer: NodeJS.Timeout | undefined;
  let isChecking = false;

  function hear(feed: ChannelFeed, event: ChatEvent | StoredUpTo): void {
    if (event.type === 'stored') expect(feed, event.change);
    else take(feed, event);
  }

  /** Gives changes up to a number time to arrive, then reads them from the store. */
  function expect(feed: ChannelFeed, change: number): void {
    if (change <= (feed.position?.change ?? 0)) return;
    feed.stored = Math.max(feed.stored, change);
    feed.timer ??= setTimeout(() => void ask(feed), DISORDER_MS).unref();
  }

  function take(feed: ChannelFeed, event: ChatEvent): void {
    if (!isLasting(event)) return feed.held ? hold(feed, event) : tell(feed, event);
    const { position } = feed;
    if (!position) return hold(feed, event);
    if (event.change <= position.change) return;
    if (event.change > position.change + 1) {
      hold(feed, event);
      return expect(feed, event.change);
    }
    pass(feed, { change: event.change, event });
    if (feed.held && !feed.isAsking) release(feed);
  }

  /** Sends the next change to the readers. */
  function pass(feed: ChannelFeed, { change, event, seq }: ChannelChange): void {
    const posted = event?.type === 'message.created' ? event.message.seq : seq;
    feed.position = { change, seq: posted ?? feed.position?.seq ?? 0 };
    if (event) tell(feed, event);
  }

  function hold(feed: ChannelFeed, event: ChatEvent): void {
    feed.held ??= [];
    if (feed.held.length < HELD_MAX) feed.held.push(event);
  }

  /** Processes the held-back events again: lasting changes first, because others may refer to them. */
  function release(feed: ChannelFeed): void {
    clearTimeout(feed.timer);
    feed.timer = undefined;
    const held = feed.held ?? [];
    feed.held = undefined;
    for (const event of held.filter(isLasting).toSorted((a, b) => a.change - b.change)) take(feed, event);
    for (const event of held) if (!isLasting(event)) take(feed, event);
    expect(feed, feed.stored);
  }

  /** Sends the stored changes after the position. */
  async function ask(feed: ChannelFeed): Promise<void> {
    feed.hasMissed = true;
    if (feed.isAsking || !feed.position) return;
    feed.isAsking = true;
    feed.stored = 0;
    feed.held ??= [];
    while (feed.hasMissed && feed.readers.size > 0) {
      feed.hasMissed = false;
      try {
        for (let cursor: number | undefined = feed.position.change; cursor !== undefined;) {
          const { changes, next } = await chat.changesSince(feed.id, cursor, PAGE);
          // others were sent meanwhile
          for (const change of changes) if (change.change > feed.position.change) pass(feed, change);
          cursor = next;
        }
      } catch (error) {
        log.warn({ err: describeError(error) }, 'changes for open streams could not be read');
        feed.hasMissed = true;
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }
    feed.isAsking = false;
    release(feed);
  }

  function tell(feed: ChannelFeed, event: ChatEvent): void {
    if (event.type === 'typing') return deliver(feed, event, event.identityId);
    if (event.type === 'presence') {
      deliver(feed, event, event.identityId);
      // the identity left another instance but still reads here
      if (event.status === 'offline' && hasReader(feed, event.identityId)) announce(feed, event.identityId, 'online');
      return;
    }
    deliver(feed, event);
    const isOver = ({ identityId }: ChannelReader) =>
      event.type === 'channel.deleted' || (event.type === 'subscription.deleted' && identityId === event.identityId);
    for (const reader of [...feed.readers].filter(isOver)) {
      if (reader.hasSenders) inOrder(feed, () => remove(feed, reader));
      else remove(feed, reader);
    }
  }

  /** Sends an event to the readers; to those that asked for senders behind the earlier ones, for which others do not wait. */
  function deliver(feed: ChannelFeed, event: ChatEvent, except?: string): void {
    const asking = [...feed.readers].filter(({ hasSenders }) => hasSenders);
    if (asking.length === 0) return feed.deliver(event, except);
    inOrder(feed, (expanded = event) => feed.deliver(expanded, except, asking), senders.in(event));
    feed.deliver(
      event,
      except,
      [...feed.readers].filter(({ hasSenders }) => !hasSenders),
    );
  }

  /** Takes a step for the readers that asked for senders once the earlier ones are done. It must not throw. */
  function inOrder(feed: ChannelFeed, step: (expanded?: ChatEvent) => void, expanding?: Promise<ChatEvent>): void {
    if (!feed.expanding && !expanding) return step();
    const done = Promise.all([expanding, feed.expanding]).then(([expanded]) => {
      step(expanded);
      if (feed.expanding === done) feed.expanding = undefined;
    });
    feed.expanding = done;
  }

  function remove(feed: ChannelFeed, reader: ChannelReader): void {
    leave(feed.id, reader);
    reader.removed();
  }

  function hasReader(feed: ChannelFeed, identityId: string): boolean {
    for (const reader of feed.readers) if (reader.identityId === identityId) return true;
    return false;
  }

  function announce(feed: ChannelFeed, identityId: string, status: 'online' | 'offline'): void {
    if (feed.readers.size <= PRESENCE_MAX) publishChatEvent(bus, { type: 'presence', channelId: feed.id, identityId, status });
  }

  function leave(channelId: string, reader: ChannelReader): void {
    const feed = feeds.get(channelId);
    if (!feed || !feeds.leave(feed, reader)) return;
    if (feed.readers.size === 0) clearTimeout(feed.timer);
    if (feed.readers.size < PRESENCE_MAX && !hasReader(feed, reader.identityId)) announce(feed, reader.identityId, 'offline');
    if (feeds.isEmpty()) {
      clearInterval(timer);
      timer = undefined;
    }
  }

  /**
   * Removes readers that are no longer members according to the store. If the read fails, nobody is removed, and the next check
   * tries again.
   */
  async function checkMembers(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    try {
      // readers that join during the lookup are not part of it, so they must not be removed
      const asked = [...feeds.all()].map((feed) => ({ feed, readers: [...feed.readers] }));
      const idsOf = (readers: ChannelReader[]) => new Set(readers.map(({ identityId }) => identityId));
      const members = await chat.membersAmong(new Map(asked.map(({ feed, readers }) => [feed.id, idsOf(readers)])));
      const gone = asked.flatMap(({ feed, readers }) =>
        readers.filter(({ identityId }) => !members.get(feed.id)?.has(identityId)).map((reader) => ({ feed, reader })),
      );
      if (gone.length > 0) await wait(REMOVAL_MS, undefined, { ref: false });
      for (const { feed, reader } of gone) if (feed.readers.has(reader)) remove(feed, reader);
    } catch (error) {
      log.warn({ err: describeError(error) }, 'the members of channels with open streams could not be looked up');
    } finally {
      isChecking = false;
    }
  }

  async function begin(channelId: string, reader: ChannelReader): Promise<Begun> {
    // left while it waited for its turn: the identity's next connection must not wait for the store on its behalf
    if (!reader.isReading) throw requestErrors.unavailable();
    feeds.get(channelId)?.checkRoom(reader.identityId);
    const feed = feeds.join(channelId, reader);
    reader.from = feed.position;
    try {
      // read only after joining, so that the feed hears every change stored after this read
      const { lastSeq, lastChange, readSeq } = await chat.membershipOf(reader.identityId, channelId);
      if (!feed.position) {
        feed.position = { seq: lastSeq, change: lastChange };
        for (const one of feed.readers) one.from ??= feed.position;
        if (feed.hasMissed) void ask(feed);
        else release(feed);
      } else expect(feed, lastChange);
      const from = (reader.from ??= feed.position);
      timer ??= setInterval(() => void checkMembers(), CHECK_MS).unref();
      if (feed.readers.size <= PRESENCE_MAX) announce(feed, reader.identityId, 'online');
      return { lastSeq: from.seq, lastChange: from.change, unread: Math.max(0, from.seq - readSeq) };
    } catch (error) {
      feeds.leave(feed, reader);
      throw error;
    }
  }

  return {
    /**
     * Starts reading for a member, in turn. The reader then receives everything after the returned numbers.
     * @throws chatErrors.notSubscribed; requestErrors.tooMany when the identity reads the channel too often already;
     * requestErrors.unavailable when the wait takes too long
     */
    start(channelId: string, reader: ChannelReader): Promise<Begun> {
      const begun = inTurn({ key: reader.identityId, isAnonymous: false }, () => begin(channelId, reader));
      return begun.catch((error: unknown) => Promise.reject(toListFailure(error)));
    },

    leave,
  };
}
