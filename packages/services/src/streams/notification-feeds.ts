import { Feed, createFeeds, describeError, type EventBus, type Log } from '@tandem/core';
import type { Clock } from '@tandem/storage';
import { z } from 'zod';
import { notificationTopic, type NotificationEvent } from '../notifications/notification-events.js';
import { notificationErrors } from '../notifications/notifications.errors.js';
import type { NotificationsService } from '../notifications/notifications.service.js';
import type { NotificationServerFrame } from './notification-frames.js';

/** Notifications per read from the store, for clients that missed some. */
const PAGE = 100;
/**
 * How far a replay reaches back behind its anchor, or a read after a gap behind the last read, in milliseconds. A notification
 * gets its time before it is stored, so of two concurrent ones the earlier may be stored later. Clients recognize repeats by id.
 */
const OVERLAP_MS = 5000;
/** Notifications told after which the store is read, so that a read after a gap stays short. */
const TOLD_MAX = 1000;
/** Delay before a failed read of the store is made up for, in milliseconds. */
const RETRY_MS = 1000;

type CreatedFrame = Extract<NotificationServerFrame, { type: 'notification.created' }>;

/** The notification events of one identity. */
class NotificationFeed extends Feed {
  /** Processes events one after the other, since some read the store first. */
  work: Promise<void> = Promise.resolve();
  timer: NodeJS.Timeout | undefined = undefined;
  /** A read of the store waits for its turn: what is lost until it begins is in it. */
  isAsked = false;
  /** The notifications told since `readAt`; made with the first, since most feeds are idle. */
  told: Set<string> | undefined = undefined;
  constructor(
    id: string,
    /** Time up to which everything in the store has been sent. What is heard does not move it: earlier ones may be lost. */
    public readAt: Date,
  ) {
    super(id);
  }
}

/** Where a reader stands that has received nothing yet: the time at which it came, in milliseconds. */
export const JoinedAt = z.string().regex(/^at:\d{1,15}$/);

/** The reader's own notification from which it resumes, or the time without one. */
export interface Anchor {
  id: string;
  createdAt: Date;
}

interface NotificationFeedsOptions {
  notifications: NotificationsService;
  bus: EventBus;
  clock: Clock;
  log: Log;
}
export type NotificationFeeds = ReturnType<typeof createNotificationFeeds>;

/** Sends the notification events of identities to their readers in this process. */
export function createNotificationFeeds({ notifications, bus, clock, log }: NotificationFeedsOptions) {
  const feeds = createFeeds<NotificationFeed>(bus, {
    topicOf: notificationTopic,
    create: (identityId) => new NotificationFeed(identityId, clock.now()),
    onEvent: (feed, event) => then(feed, () => tell(feed, event as NotificationEvent)),
    onResumed: askCatchUp,
  });

  function then(feed: NotificationFeed, work: () => Promise<void>): void {
    feed.work = feed.work.then(work).catch((error: unknown) => {
      log.error({ err: describeError(error) }, 'an event for open notification streams failed');
      feed.timer ??= setTimeout(() => {
        feed.timer = undefined;
        if (feed.readers.size > 0) askCatchUp(feed);
      }, RETRY_MS).unref();
    });
  }

  async function tell(feed: NotificationFeed, event: NotificationEvent): Promise<void> {
    if (event.type === 'notification.created') {
      feed.deliver(event);
      const told = (feed.told ??= new Set()).add(event.notification.id);
      if (told.size % TOLD_MAX === 0) askCatchUp(feed);
      return;
    }
    feed.deliver({ ...event, unread: await notifications.unreadCount(feed.id) } satisfies NotificationServerFrame);
  }

  function askCatchUp(feed: NotificationFeed): void {
    if (feed.isAsked) return;
    feed.isAsked = true;
    then(feed, () => catchUp(feed));
  }

  /** Sends events that the bus may have lost, or that a failed read kept back. */
  async function catchUp(feed: NotificationFeed): Promise<void> {
    feed.isAsked = false;
    const readAt = clock.now();
    for await (const frame of since(feed.id, feed.readAt)) if (!feed.told?.has(frame.notification.id)) feed.deliver(frame);
    feed.deliver({ type: 'notifications.read', unread: await notifications.unreadCount(feed.id) });
    feed.readAt = readAt;
    feed.told = undefined;
  }

  async function* since(identityId: string, time: Date): AsyncGenerator<CreatedFrame> {
    const from = { createdAt: new Date(time.getTime() - OVERLAP_MS) };
    for await (const notification of notifications.createdSince(identityId, from, PAGE))
      yield { type: 'notification.created', notification };
  }

  return {
    /** @throws requestErrors.tooMany for one more subscription than an identity may have */
    checkRoom: (identityId: string): void => feeds.get(identityId)?.checkRoom(identityId),

    join: feeds.join,
    leave: feeds.leave,

    /** The `JoinedAt` of who comes now. */
    joinedAt: (): string => `at:${clock.now().getTime()}`,

    /**
     * @param place the id of a notification, or a `JoinedAt`
     * @throws notificationErrors.notFound when it is missing or belongs to another identity
     */
    async anchorOf(identityId: string, place: string): Promise<Anchor> {
      if (JoinedAt.safeParse(place).success) return { id: '', createdAt: new Date(Number(place.slice('at:'.length))) };
      const createdAt = await notifications.createdAtOf(place, identityId);
      if (!createdAt) throw notificationErrors.notFound();
      return { id: place, createdAt };
    },

    /** First the current state, then the missed notifications. */
    async *opening(identityId: string, anchor?: Anchor): AsyncGenerator<NotificationServerFrame> {
      yield { type: 'ready', unread: await notifications.unreadCount(identityId) };
      if (!anchor) return;
      for await (const frame of since(identityId, anchor.createdAt)) if (frame.notification.id !== anchor.id) yield frame;
    },
  };
}
