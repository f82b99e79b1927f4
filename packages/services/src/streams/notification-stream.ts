import {
  Feed,
  SocketReader,
  createFeeds,
  describeError,
  validationError,
  type EventBus,
  type Log,
  type Stream,
  type StreamHandler,
  type StreamSocket,
} from '@tandem/core';
import type { Clock } from '@tandem/storage';
import { notificationTopic, type NotificationEvent } from '../notifications/notification-events.js';
import { notificationErrors } from '../notifications/notifications.errors.js';
import type { NotificationsService } from '../notifications/notifications.service.js';
import { Id } from '../shared/schemas.js';
import { NotificationClientFrame, type NotificationServerFrame } from './notification-frames.js';
import { authenticateStream, refuseUnknown } from './stream-handshake.js';
import type { StreamTickets } from './stream-tickets.js';

/** Notifications read at once from the store, for who has missed them. */
const PAGE = 100;
/**
 * What was created so long before what was told last is told again after a gap, in milliseconds: a notification has its time before it is
 * stored, so that of two at once the earlier may be told later. Clients know it by its id.
 */
const OVERLAP_MS = 5000;

interface NotificationStreamOptions {
  notifications: NotificationsService;
  redeem: StreamTickets['redeem'];
  bus: EventBus;
  clock: Clock;
  log: Log;
}

/** What one identity is told. */
class NotificationFeed extends Feed {
  /** Events are worked on one after the other: some ask the store first. */
  work: Promise<void> = Promise.resolve();
  constructor(
    id: string,
    /** Up to when all has been told. */
    public heardAt: Date,
  ) {
    super(id);
  }
}

/** `GET /notifications/listen` (decisions S7). */
export function createNotificationStream(options: NotificationStreamOptions): Stream {
  const { notifications, redeem, bus, clock, log } = options;

  const feeds = createFeeds<NotificationFeed>(bus, {
    topicOf: notificationTopic,
    create: (identityId) => new NotificationFeed(identityId, clock.now()),
    onEvent: (feed, event) => then(feed, () => tell(feed, event as NotificationEvent)),
    onResumed: (feed) => then(feed, () => catchUp(feed)),
  });

  function then(feed: NotificationFeed, work: () => Promise<void> | void): void {
    feed.work = feed.work.then(work).catch((error: unknown) => {
      log.error({ err: describeError(error) }, 'open streams of notifications could not be told something');
    });
  }

  async function tell(feed: NotificationFeed, event: NotificationEvent): Promise<void> {
    if (event.type === 'notification.created') {
      feed.heardAt = new Date(event.notification.createdAt);
      return feed.deliver(event);
    }
    feed.deliver({ ...event, unread: await notifications.unreadCount(feed.id) } satisfies NotificationServerFrame);
  }

  /** Tells what other instances may have written unheard. */
  async function catchUp(feed: NotificationFeed): Promise<void> {
    const from = new Date(feed.heardAt.getTime() - OVERLAP_MS);
    for await (const notification of notifications.createdSince(feed.id, { createdAt: from }, PAGE))
      feed.deliver({ type: 'notification.created', notification });
    feed.heardAt = clock.now();
    feed.deliver({ type: 'notifications.read', unread: await notifications.unreadCount(feed.id) });
  }

  const handler: StreamHandler = {
    frames: NotificationClientFrame,
    handle: () => Promise.resolve(),
    failureOf: () => 'Failed to find notifications',
    closed(socket) {
      const { feed, reader } = socket.state as { feed: NotificationFeed; reader: SocketReader };
      feeds.leave(feed, reader);
    },
  };

  /** Says how things stand, replays what was missed, and then goes on with what comes. */
  async function begin(socket: StreamSocket, reader: SocketReader, since: Date | undefined, anchorId: string | undefined) {
    const { identityId } = reader;
    socket.say({ type: 'ready', unread: await notifications.unreadCount(identityId) } satisfies NotificationServerFrame);
    if (since) {
      const from = { createdAt: new Date(since.getTime() - OVERLAP_MS) };
      for await (const notification of notifications.createdSince(identityId, from, PAGE)) {
        if (notification.id !== anchorId) socket.say({ type: 'notification.created', notification });
        await socket.drained();
      }
    }
    reader.goLive();
  }

  return {
    path: '/notifications/listen',
    async open(handshake) {
      const access = await authenticateStream('notifications', handshake, redeem);
      const { id: identityId } = access.identity;
      const { query } = handshake;
      refuseUnknown(query, ['since']);
      const [anchorId, second] = query.getAll('since');
      if (second !== undefined) throw validationError(["query parameter 'since' must NOT be repeated"]);
      if (anchorId !== undefined && !Id.safeParse(anchorId).success)
        throw validationError(['query parameter \'since\' must match format "uuid"']);
      const since = anchorId === undefined ? undefined : await notifications.createdAtOf(anchorId, identityId);
      if (anchorId !== undefined && !since) throw notificationErrors.notFound();
      return {
        access,
        handler,
        begin(socket) {
          const reader = new SocketReader(socket, identityId);
          socket.state = { feed: feeds.join(identityId, reader), reader };
          begin(socket, reader, since, anchorId).catch((error: unknown) => {
            log.error({ err: describeError(error) }, 'a stream of notifications could not begin');
            socket.end('failed');
          });
        },
      };
    },
  };
}
