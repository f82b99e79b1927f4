import {
  SocketReader,
  describeError,
  validationError,
  type Log,
  type Stream,
  type StreamHandler,
  type StreamSocket,
} from '@tandem/core';
import { Id } from '../shared/schemas.js';
import type { Anchor, NotificationFeeds } from './notification-feeds.js';
import { NotificationClientFrame } from './notification-frames.js';
import { authenticateStream, refuseUnknown } from './stream-handshake.js';
import type { StreamTickets } from './stream-tickets.js';

interface NotificationStreamOptions {
  feeds: NotificationFeeds;
  redeem: StreamTickets['redeem'];
  log: Log;
}

/** The state kept with a socket. */
interface Reading {
  feed: ReturnType<NotificationFeeds['join']>;
  reader: SocketReader;
}

/** The notification id in `since`; checks only its form. @throws a validation error */
function readSince(query: URLSearchParams): string | undefined {
  refuseUnknown(query, ['since']);
  const [id, second] = query.getAll('since');
  if (second !== undefined) throw validationError(["query parameter 'since' must NOT be repeated"]);
  if (id !== undefined && !Id.safeParse(id).success)
    throw validationError(['query parameter \'since\' must match format "uuid"']);
  return id;
}

/** `GET /notifications/listen` (decisions S7). */
export function createNotificationStream({ feeds, redeem, log }: NotificationStreamOptions): Stream {
  const handler: StreamHandler = {
    frames: NotificationClientFrame,
    handle: () => Promise.resolve(),
    failureOf: () => 'Failed to find notifications',
    closed(socket) {
      const { feed, reader } = socket.state as Reading;
      feeds.leave(feed, reader);
    },
  };

  /** Sends the current state, replays missed notifications, then goes live. */
  async function begin(socket: StreamSocket, reader: SocketReader, anchor: Anchor | undefined): Promise<void> {
    try {
      for await (const frame of feeds.opening(reader.identityId, anchor)) {
        socket.say(frame);
        await socket.drained();
      }
      reader.goLive();
    } catch (error) {
      log.error({ err: describeError(error) }, 'a stream of notifications could not begin');
      socket.end('failed');
    }
  }

  return {
    path: '/notifications/listen',
    async open(handshake) {
      const access = await authenticateStream('notifications', handshake, redeem);
      const { id: identityId } = access.identity;
      const since = readSince(handshake.query);
      const anchor = since === undefined ? undefined : await feeds.anchorOf(identityId, since);
      return {
        access,
        handler,
        begin(socket) {
          const reader = new SocketReader(socket, identityId);
          socket.state = { feed: feeds.join(identityId, reader), reader } satisfies Reading;
          void begin(socket, reader, anchor);
        },
      };
    },
  };
}
