import { createConnection, type SocketConstructor } from './stream-connection.js';
import { REFUSED_MS, createOutbox, type MessageToSend, type OutgoingMessage } from './chat-outbox.js';
import { createOwn, type OwnHandlers } from './chat-own.js';
import type { ChatEvent, ChatMessage, OwnEvent, StreamError } from './chat-types.js';
import type { TandemClient } from './client.js';
import { TandemError, isError } from './failure.js';
import type { RouterInputs } from './router-types.js';
import { randomId } from './random-id.js';
import { createUpload } from './upload.js';

export interface ChatClientOptions {
  /** The server's URL, as for the client. */
  url: string;
  /** A signed-in client. It gets the tickets that open the stream, and renews its tokens for that. */
  client: Pick<TandemClient, 'api'>;
  /** Default: the platform's. Node before 22 has none: `import { WebSocket } from 'ws'`. */
  WebSocket?: SocketConstructor;
  /**
   * Called when the connection comes and goes. Messages sent while it is down are sent when it is back. Must not throw.
   */
  onState?: (state: 'up' | 'down') => void;
  /**
   * Called when a message of `send` is pending, sent, or failed: `applyToOutgoing` keeps those that a page shows. Must
   * not throw.
   */
  onOutgoing?: (outgoing: OutgoingMessage) => void;
  /** Called once when the server ends the session. Must not throw. */
  onSignedOut?: () => void;
}

/** Callbacks for a channel. Must not throw. */
export interface ChannelHandlers {
  /** Each event of the channel; each message once, in the order of `seq`, across reconnects. */
  onEvent?(event: ChatEvent): void;
  /**
   * The state at the beginning and after each reconnect. With `isResumed` all that has changed since the last event
   * follows; otherwise load what may have changed before.
   */
  onSubscribed?(standing: { lastSeq: number; lastChange: number; unread: number; isResumed: boolean }): void;
  /**
   * The channel is no longer followed: not a member, or the channel is gone. `refusal` is the server's, where it refused
   * to let it be followed.
   */
  onEnd?(reason: string, refusal?: TandemError): void;
}

export interface ChatClient {
  /**
   * Follows a channel from the change after `sinceChange` or the message after `sinceSeq`, by default from its end.
   * After a drop it resumes with all that has changed meanwhile: messages, their edits and deletions, members. A channel
   * is followed once at a time, and may be followed again as soon as that has ended. With `expand: ['sender']` the
   * messages of events have their senders' names and pictures.
   * @returns a function that stops following, and returns the last change delivered, for a later `sinceChange`
   */
  follow(
    channelId: string,
    handlers: ChannelHandlers,
    options?: { sinceSeq?: number; sinceChange?: number; expand?: ['sender'] },
  ): () => number | undefined;
  /**
   * Follows all one's own channels: which there are, and what is unread in each. Once at a time.
   * @returns a function that stops following
   */
  followOwn(handlers: OwnHandlers): () => void;
  /**
   * Posts a message, after uploading its files, and resolves when it is stored: once, however often it has to be sent.
   * What may pass, such as a drop, rate limits or an unavailable database, is retried until it is stored. Fails with a
   * TandemError on a permanent refusal, and with an Error when the client is closed first.
   */
  send(message: MessageToSend): Promise<ChatMessage>;
  /** Reports typing in a channel that is followed; dropped without a connection. @returns whether it was sent */
  typing(channelId: string): boolean;
  /**
   * Reports everything up to and including a message as read. In a followed channel it is sent once the subscription is
   * confirmed, and again after a drop; elsewhere it is lost without a connection.
   */
  markRead(channelId: string, messageId: string): void;
  close(): void;
}

/** Frames of the server other than channel events. */
type ServerFrame =
  | ChatEvent
  | { type: 'ready' | 'pong' }
  | OwnEvent
  | { type: 'subscribed' | 'unsubscribed'; self: true }
  | { type: 'subscribed'; self?: never; channelId: string; lastSeq: number; lastChange: number; unread: number }
  | { type: 'replayed'; channelId: string; change: number }
  | { type: 'unsubscribed'; self?: never; channelId: string }
  | { type: 'ack'; clientId: string; message: ChatMessage }
  | StreamError;

interface Followed {
  handlers: ChannelHandlers;
  /** The last message and the last change delivered; undefined until the server has said where the channel begins. */
  seq: number | undefined;
  change: number | undefined;
  expand: ['sender'] | undefined;
  /** Whether the server has confirmed the subscription on this connection. */
  isConfirmed: boolean;
  /** The message that was reported as read last. */
  read?: string | undefined;
}

/**
 * A client of the message stream, for browsers and Node (docs/streams.md). It connects at once, and reconnects by
 * itself.
 */
export function createChatClient(options: ChatClientOptions): ChatClient {
  const { url, client, onState = () => {}, onOutgoing = () => {}, onSignedOut = () => {} } = options;
  const channels = new Map<string, Followed>();

  /**
   * Unsubscriptions that the server has not confirmed yet. It answers in order, so events of the channel until then are
   * old.
   */
  const stopping = new Map<string, number>();

  function subscribe(channelId: string, followed: Followed): void {
    followed.isConfirmed = false;
    const { seq, change, expand } = followed;
    const since = change === undefined ? { sinceSeq: seq } : { sinceChange: change };
    // JSON leaves out what is undefined
    connection.send({ type: 'subscribe', channelId, ...since, expand });
  }

  function unsubscribe(channelId: string): void {
    if (connection.send({ type: 'unsubscribe', channelId })) stopping.set(channelId, (stopping.get(channelId) ?? 0) + 1);
  }

  /** Reports what was read, once the subscription is confirmed: a refusal could not be told from one of that. */
  function report(channelId: string, messageId: string): void {
    const followed = channels.get(channelId);
    if (followed) followed.read = messageId;
    if (followed?.isConfirmed !== false) connection.send({ type: 'read', channelId, messageId });
  }

  function end(channelId: string, reason: string, refusal?: TandemError): void {
    const followed = channels.get(channelId);
    channels.delete(channelId);
    followed?.handlers.onEnd?.(reason, refusal);
  }

  /** Retries soon what the server has refused, unless it has been accepted by then; what was read is reported once more. */
  function tryAgain(channelId: string): void {
    setTimeout(() => {
      const followed = channels.get(channelId);
      const isStopping = stopping.has(channelId);
      if (followed?.isConfirmed && followed.read !== undefined) report(channelId, followed.read);
      if (followed?.isConfirmed || !(followed || isStopping)) return;
      stopping.delete(channelId);
      if (followed) subscribe(channelId, followed);
      else unsubscribe(channelId);
    }, REFUSED_MS);
  }

  function refused(refusal: StreamError): void {
    const { retry, clientId, channelId, self } = refusal;
    if (self) return own.refuse(refusal);
    if (clientId !== undefined) return outbox.refuse(clientId, refusal);
    // a `read` of a message that is gone says nothing about the subscription
    if (channelId === undefined || isError(refusal, 'chat.lastReadMessageNotFound')) return;
    if (retry) tryAgain(channelId);
    else if (current(channelId)?.isConfirmed === false) end(channelId, refusal.message, new TandemError(refusal));
  }

  function unsubscribed(channelId: string): void {
    const more = (stopping.get(channelId) ?? 0) - 1;
    if (more > 0) stopping.set(channelId, more);
    else if (more === 0) stopping.delete(channelId);
    else if (channels.get(channelId)?.isConfirmed) end(channelId, 'the channel is not followed any more');
    // the refusal is of an earlier subscription, or of one that has already ended
    else tryAgain(channelId);
  }

  /** Who follows a channel that an event is of; undefined where it is old. */
  function current(channelId: string): Followed | undefined {
    return stopping.has(channelId) ? undefined : channels.get(channelId);
  }

  function take(frame: ServerFrame): void {
    switch (frame.type) {
      case 'ready':
      case 'pong':
        return;
      case 'error':
        return refused(frame);
      case 'ack':
        return outbox.acknowledge(frame.clientId, frame.message);
      case 'unsubscribed':
        return frame.self ? undefined : unsubscribed(frame.channelId);
      case 'channel.added':
      case 'channel.removed':
      case 'unread':
        return own.take(frame);
      case 'subscribed': {
        if (frame.self) return own.confirm();
        const followed = current(frame.channelId);
        if (!followed) return;
        followed.isConfirmed = true;
        const { lastSeq, lastChange, unread } = frame;
        const isResumed = followed.change !== undefined;
        followed.seq ??= lastSeq;
        // messages that are still to come have lower numbers
        if (followed.seq >= lastSeq) followed.change ??= lastChange;
        if (followed.read !== undefined && unread > 0) report(frame.channelId, followed.read);
        return followed.handlers.onSubscribed?.({ lastSeq, lastChange, unread, isResumed });
      }
      case 'replayed': {
        const followed = current(frame.channelId);
        if (followed) followed.change = frame.change;
        return;
      }
      default: {
        const followed = current(frame.channelId);
        if (!followed) return;
        if ('change' in frame) followed.change = frame.change;
        if (frame.type === 'message.created') {
          if (frame.message.seq <= (followed.seq ?? 0)) return;
          followed.seq = frame.message.seq;
        }
        followed.handlers.onEvent?.(frame);
      }
    }
  }

  // one for all calls: nobody who signs in later gets a ticket for what this one has to send
  const context = { sentBy: {} };
  const connection = createConnection({
    url,
    async path(signal) {
      const { ticket } = await client.api.chat.createListenTicket.mutate({}, { signal, context });
      return `/messages/listen?ticket=${ticket}`;
    },
    WebSocket: options.WebSocket,
    onOpen() {
      onState('up');
      for (const [channelId, followed] of channels) subscribe(channelId, followed);
      own.resume();
      outbox.pump();
    },
    onFrame: (frame) => take(frame as ServerFrame),
    onDown() {
      outbox.forget();
      stopping.clear();
      onState('down');
    },
    onSignedOut() {
      outbox.close(new Error('signed out'));
      onSignedOut();
    },
  });
  const outbox = createOutbox({
    send: connection.send,
    uploadOf: (channelId, file) =>
      createUpload<RouterInputs['chat']['postedFileUploadUrl']>(
        { query: (input) => client.api.chat.postedFileUploadUrl.query(input, { context }) },
        { channelId },
        file,
      ),
    onOutgoing,
  });
  const own = createOwn(connection.send);

  return {
    follow(channelId, handlers, { sinceSeq, sinceChange, expand } = {}) {
      if (channels.has(channelId)) throw new TypeError('channelId: the channel is followed already');
      const seq = sinceChange === undefined ? sinceSeq : 0;
      const followed: Followed = { handlers, seq, change: sinceChange, expand, isConfirmed: false };
      channels.set(channelId, followed);
      subscribe(channelId, followed);
      return () => {
        if (channels.get(channelId) === followed) {
          channels.delete(channelId);
          unsubscribe(channelId);
        }
        return followed.change;
      };
    },
    followOwn: own.follow,
    send: async (message) => outbox.add({ ...message, clientId: message.clientId ?? randomId() }),
    typing(channelId) {
      // refused before, which would look as if the subscription were
      return channels.get(channelId)?.isConfirmed === true && connection.send({ type: 'typing', channelId });
    },
    markRead: report,
    close() {
      connection.close();
      outbox.close(new Error('the client is closed'));
    },
  };
}
