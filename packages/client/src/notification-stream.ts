import type { StreamError } from './chat-types.js';
import type { TandemClient } from './client.js';
import type { NotificationServerFrame } from './router-types.js';
import { createConnection, type SocketConstructor } from './stream-connection.js';

/** Notification ids remembered to drop repeats. */
const REMEMBERED = 1000;
/** After this many refusals of the stream despite valid tickets, the notification to resume from may no longer exist. */
const REFUSALS = 3;

/** A notification, with the fields that the host has given it. */
export type Notification = Extract<NotificationServerFrame, { type: 'notification.created' }>['notification'];
type Frame = NotificationServerFrame | { type: 'pong' } | StreamError;

/** The handlers must not throw. */
export interface NotificationStreamOptions {
  /** The server's URL, as for the client. */
  url: string;
  /** A signed-in client. It gets the tickets that open the stream, and renews its tokens for that. */
  client: Pick<TandemClient, 'api'>;
  /**
   * The newest known notifications, newest first, as the list returns them: later ones are delivered. Default:
   * everything from now on.
   */
  known?: readonly { id: string }[];
  /** Each notification once, across reconnects. */
  onNotification(notification: Notification): void;
  /** Some were read: these, or all up to and including one. With neither others have changed: load them again. */
  onRead?(read: { upTo?: string; ids?: string[] }): void;
  /** The number of unread ones: at the beginning, after each reconnect, and when some are read, deleted or restored. */
  onUnread?(unread: number): void;
  /** Called when the connection comes and goes. */
  onState?(state: 'up' | 'down'): void;
  /** Called once when the server ends the session. */
  onSignedOut?(): void;
  /** Default: the platform's. Node before 22 has none: `import { WebSocket } from 'ws'`. */
  WebSocket?: SocketConstructor;
}

export interface NotificationStream {
  close(): void;
}

/**
 * Delivers the signed-in identity's notifications as they come, in browsers and Node (docs/streams.md). It connects at
 * once, and reconnects by itself.
 */
export function createNotificationStream(options: NotificationStreamOptions): NotificationStream {
  const { client, known = [], onNotification, onRead, onUnread, onState, onSignedOut } = options;
  let since = known[0]?.id;
  let refusals = 0;
  // no ticket of another who signs in later
  const context = { sentBy: {} };
  // after a reconnect the server repeats some
  const told = new Set(known.map(({ id }) => id).toReversed());
  /** Ids to resume from, without those that the server has refused. */
  let anchors = [...told];

  function tell(notification: Notification): void {
    const { id } = notification;
    // an older one, repeated, is no place to resume from
    if (told.has(id)) return;
    since = id;
    told.add(id);
    anchors.push(id);
    const [oldest] = told;
    if (told.size > REMEMBERED && oldest !== undefined) {
      told.delete(oldest);
      anchors = anchors.filter((one) => one !== oldest);
    }
    onNotification(notification);
  }

  function take(frame: Frame): void {
    if (frame.type === 'notification.created') return tell(frame.notification);
    if (frame.type === 'pong' || frame.type === 'error') return;
    if (frame.type === 'notifications.read') {
      const { upTo, ids } = frame;
      onRead?.({ ...(upTo !== undefined && { upTo }), ...(ids && { ids }) });
    }
    onUnread?.(frame.unread);
  }

  return createConnection({
    url: options.url,
    async path(signal) {
      const { ticket } = await client.api.notifications.createListenTicket.mutate({}, { signal, context });
      refusals += 1;
      if (refusals > REFUSALS) {
        // An earlier one that exists resumes too: more is repeated. A proxy may also refuse for a while what the server would not:
        // what was missed is given up for one attempt alone, and then the newest is tried again
        since = since === undefined ? anchors.at(-1) : anchors[anchors.indexOf(since) - 1];
        refusals = since === undefined ? REFUSALS : 1;
      }
      return `/notifications/listen?ticket=${ticket}${since === undefined ? '' : `&since=${since}`}`;
    },
    WebSocket: options.WebSocket,
    onOpen() {
      refusals = 0;
      onState?.('up');
      if (since !== undefined || anchors.length === 0) return;
      // given up for this connection alone: the next tries the newest again
      anchors = anchors.slice(-1);
      [since] = anchors;
      onRead?.({});
    },
    onFrame: (frame) => take(frame as Frame),
    onDown: () => onState?.('down'),
    onSignedOut: () => onSignedOut?.(),
  });
}
