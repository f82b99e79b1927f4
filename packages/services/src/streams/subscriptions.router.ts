import {
  ApiError,
  IteratorReader,
  allow,
  authenticated,
  authenticationErrors,
  describeError,
  requestErrors,
  router,
  unexpectedError,
  type AccessWatch,
  type AuthenticatedContext,
  type Log,
  type ReaderSocket,
} from '@tandem/core';
import { tracked } from '@trpc/server';
import { z } from 'zod';
import type { End } from '../chat/message-log.js';
import { readsEvents, type RoleOf } from '../events/event-rules.js';
import { eventStreamInput } from '../events/events.schemas.js';
import type { EventsService } from '../events/events.service.js';
import { actorOf } from '../shared/actor.js';
import { Id } from '../shared/schemas.js';
import type { ChannelFeeds, ChannelReader } from './channel-feeds.js';
import type { ChannelReplays } from './channel-replays.js';
import { Expand, Seq, since, sinceOne, type ChatServerFrame } from './chat-frames.js';
import { EventFeed, EventReader } from './event-reader.js';
import { JoinedAt, type NotificationFeeds } from './notification-feeds.js';
import type { NotificationServerFrame } from './notification-frames.js';
import type { OwnFeeds } from './own-feeds.js';
import type { OwnEvent, OwnSubscribed } from './own-frames.js';

interface SubscriptionsOptions {
  channels: ChannelFeeds;
  replays: ChannelReplays;
  own: OwnFeeds;
  notifications: NotificationFeeds;
  events: EventsService;
  roleOf: RoleOf;
  watch: AccessWatch;
  log: Log;
}

/**
 * tRPC's name for the client's position: the number of its last message or change, or the id of its last notification, or else
 * when it came.
 */
const lastEventId = z.string().max(100);

class ChannelIteratorReader extends IteratorReader implements ChannelReader {
  from: End | undefined = undefined;
  constructor(
    identityId: string,
    socket: ReaderSocket | undefined,
    readonly hasSenders: boolean,
  ) {
    super(identityId, socket);
  }
  get isReading(): boolean {
    return !this.isOver;
  }
  removed(): void {
    this.end();
  }
}

/** Stream events as tRPC subscriptions (decisions S7), over WebSocket and as server-sent events. */
export function createSubscriptions({ channels, replays, own, notifications, events, roleOf, watch, log }: SubscriptionsOptions) {
  const open = new Set<IteratorReader>();
  const feed = new EventFeed(events, roleOf);

  /** Yields the events until the caller leaves or its access ends. */
  async function* whileAllowed<Event>(
    { access, server }: AuthenticatedContext,
    { reader, signal, events }: { reader: IteratorReader; signal: AbortSignal | undefined; events: AsyncGenerator<Event> },
  ): AsyncGenerator<Event> {
    const watched = { access, ended: () => reader.end(authenticationErrors.unverified()) };
    const leave = () => reader.end();
    signal?.addEventListener('abort', leave);
    watch.add(watched);
    open.add(reader);
    try {
      yield* events;
    } catch (error) {
      if (error instanceof ApiError) throw error;
      log.error({ err: describeError(error) }, 'unexpected failure in a subscription');
      throw unexpectedError(requestErrors.unexpected.message, { isUnavailable: server.isUnavailable(error), cause: error });
    } finally {
      open.delete(reader);
      reader.goLive();
      watch.remove(watched);
      signal?.removeEventListener('abort', leave);
    }
  }

  async function* missedBy(reader: ChannelIteratorReader, channelId: string, { change, seq }: Partial<End>) {
    if (change !== undefined) yield* reader.replayed<ChatServerFrame>(replays.changesAfter(channelId, reader, change));
    else if (seq !== undefined) yield* reader.replayed<ChatServerFrame>(replays.messagesAfter(channelId, reader, seq));
  }

  /** @param since what the caller has: the number of its last change, or else of its last message */
  async function* channelEvents(reader: ChannelIteratorReader, channelId: string, since: Partial<End>) {
    const isByChange = since.change !== undefined;
    try {
      const begun = await channels.start(channelId, reader);
      const from = { seq: begun.lastSeq, change: begun.lastChange };
      let at = { seq: since.seq ?? from.seq, change: since.change ?? from.change };
      const event = (frame: ChatServerFrame) => {
        if ('change' in frame) at.change = frame.change;
        if (frame.type === 'message.created') at.seq = frame.message.seq;
        return tracked(String(isByChange ? at.change : at.seq), frame);
      };
      yield event({ type: 'subscribed', channelId, ...begun });
      for await (const frame of missedBy(reader, channelId, since)) {
        if (reader.hasEnded()) break;
        yield event(frame);
      }
      // a removed reader gets nothing newer, so that it resumes from here
      if (!reader.hasEnded()) {
        at = { seq: Math.max(at.seq, from.seq), change: Math.max(at.change, from.change) };
        for await (const frame of reader.events() as AsyncGenerator<ChatServerFrame>) yield event(frame);
      }
      yield event({ type: 'unsubscribed', channelId });
    } finally {
      channels.leave(channelId, reader);
    }
  }

  async function* ownEvents(reader: IteratorReader): AsyncGenerator<z.infer<typeof OwnSubscribed> | OwnEvent> {
    try {
      const state = await own.start(reader);
      yield { type: 'subscribed', self: true };
      yield* reader.paced(state);
      yield* reader.events() as AsyncGenerator<OwnEvent>;
    } finally {
      own.leave(reader);
    }
  }

  async function* notificationEvents(reader: IteratorReader, since: string | undefined) {
    const { identityId } = reader;
    notifications.checkRoom(identityId);
    let last = since ?? notifications.joinedAt();
    const feed = notifications.join(identityId, reader);
    try {
      const anchor = since === undefined ? undefined : await notifications.anchorOf(identityId, since);
      const event = (frame: NotificationServerFrame) => {
        if (frame.type === 'notification.created') last = frame.notification.id;
        return tracked(last, frame);
      };
      const opening = notifications.opening(identityId, anchor);
      for await (const frame of anchor ? reader.replayed(opening) : opening) {
        if (frame.type === 'notification.created' && reader.hasEnded()) return;
        yield event(frame);
      }
      for await (const frame of reader.events() as AsyncGenerator<NotificationServerFrame>) yield event(frame);
    } finally {
      notifications.leave(feed, reader);
    }
  }

  return {
    chat: router({
      channelEvents: authenticated
        .input(
          z
            .strictObject({ channelId: Id, ...since, expand: Expand.optional(), lastEventId: lastEventId.optional() })
            .refine(sinceOne.check, sinceOne.message),
        )
        .subscription(({ ctx, input, signal }) => {
          const { channelId, sinceSeq, sinceChange, expand = [], lastEventId: last } = input;
          const reader = new ChannelIteratorReader(ctx.identity.id, ctx.calls?.socket, expand.length > 0);
          const seen = last === undefined ? undefined : Seq.safeParse(Number(last)).data;
          const after = sinceChange === undefined ? { seq: seen ?? sinceSeq } : { change: seen ?? sinceChange };
          return whileAllowed(ctx, { reader, signal, events: channelEvents(reader, channelId, after) });
        }),

      ownEvents: authenticated.input(z.strictObject({})).subscription(({ ctx, signal }) => {
        const reader = new IteratorReader(ctx.identity.id, ctx.calls?.socket);
        return whileAllowed(ctx, { reader, signal, events: ownEvents(reader) });
      }),
    }),

    notifications: router({
      events: authenticated
        .input(z.strictObject({ since: Id.optional(), lastEventId: lastEventId.optional() }))
        .subscription(({ ctx, input, signal }) => {
          const reader = new IteratorReader(ctx.identity.id, ctx.calls?.socket);
          const since = z.union([Id, JoinedAt]).safeParse(input.lastEventId).data ?? input.since;
          return whileAllowed(ctx, { reader, signal, events: notificationEvents(reader, since) });
        }),
    }),

    events: router({
      stream: authenticated
        .use(allow(readsEvents(roleOf)))
        .input(eventStreamInput)
        .subscription(async ({ ctx, input, signal }) => {
          const reader = new EventReader(actorOf(ctx), feed, ctx.calls?.socket);
          // before the stream begins: what happens from then on is told
          const since = Id.safeParse(input.lastEventId).data ?? input.since ?? (await events.last()) ?? undefined;
          return whileAllowed(ctx, { reader, signal, events: reader.follow({ ...input, since }) });
        }),
    }),

    /**
     * Ends the open subscriptions, which would keep the HTTP server from closing. By a failure that may pass: of server-sent events
     * an ordinary end says that nothing more will ever come, and clients do not connect again.
     */
    close(): void {
      for (const reader of open) reader.end(requestErrors.unavailable());
    },
  };
}
export type Subscriptions = ReturnType<typeof createSubscriptions>;
