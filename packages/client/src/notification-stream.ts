import type { NotificationServerFrame } from '@tandem/services';
import type { StreamError } from './chat-types.js';
import type { TandemClient } from './client.js';
import { createConnection, type SocketConstructor } from './stream-connection.js';

/** How many ids are remembered, by which a notification that comes again is known. */
const REMEMBERED = 1000;
/** A server that gives tickets and yet opens no stream so many times has no such notification as the one to go on from. */
const REFUSALS = 3;

/** A notification, with the fields that the host has given it. */
export type Notification = Extract<NotificationServerFrame, { type: 'notification.created' }>['notification'];
type Frame = NotificationServerFrame | { type: 'pong' } | StreamError;

/** The handlers must not throw. */
export interface NotificationStreamOptions {
  /** Where the server is, as the client's. */
  url: string;
  /** Signed in. It gets the tickets by which the stream is opened, and renews its tokens for that. */
  client: Pick<TandemClient, 'api'>;
  /** The newest notifications that are known, the newest first, as the list answers them: what came after them is told. Default: what comes from now on. */
  known?: readonly { id: string }[];
  /** Each notification once, whatever becomes of the connection. */
  onNotification(notification: Notification): void;
  /** Some are read: these, or all up to and including one. */
  onRead?(read: { upTo?: string; ids?: string[] }): void;
  /** How many are unread: at the beginning, after each return, and when some are read. */
  onUnread?(unread: number): void;
  /** Called when the connection comes and goes. */
  onState?(state: 'up' | 'down'): void;
  /** Called once when the server refuses to go on with the session. */
  onSignedOut?(): void;
  /** Default: the platform's. Node before 22 has none: `import { WebSocket } from 'ws'`. */
  WebSocket?: SocketConstructor;
}

export interface NotificationStream {
  close(): void;
}

/** Tells of one's notifications as they come, in browsers and Node (docs/streams.md). It connects at once, and comes back by itself. */
export function createNotificationStream(options: NotificationStreamOptions): NotificationStream {
  const { client, known = [], onNotification, onRead, onUnread, onState, onSignedOut } = options;
  let since = known[0]?.id;
  let refusals = 0;
  // after a return the server tells some again
  const told = new Set(known.map(({ id }) => id).toReversed());

  function tell(notification: Notification): void {
    const { id } = notification;
    since = id;
    if (told.has(id)) return;
    told.add(id);
    const [oldest] = told;
    if (told.size > REMEMBERED && oldest !== undefined) told.delete(oldest);
    onNotification(notification);
  }

  function take(frame: Frame): void {
    if (frame.type === 'notification.created') return tell(frame.notification);
    if (frame.type === 'pong' || frame.type === 'error') return;
    if (frame.type === 'notifications.read') {
      const { upTo, ids } = frame;
      if (upTo !== undefined || ids) onRead?.({ ...(upTo !== undefined && { upTo }), ...(ids && { ids }) });
    }
    onUnread?.(frame.unread);
  }

  return createConnection({
    url: options.url,
    async path(signal) {
      const { ticket } = await client.api.notifications.createListenTicket.mutate({}, { signal });
      refusals += 1;
      if (refusals > REFUSALS) since = undefined;
      return `/notifications/listen?ticket=${ticket}${since === undefined ? '' : `&since=${since}`}`;
    },
    WebSocket: options.WebSocket,
    onOpen() {
      refusals = 0;
      onState?.('up');
    },
    onFrame: (frame) => take(frame as Frame),
    onDown: () => onState?.('down'),
    onSignedOut: () => onSignedOut?.(),
  });
}
