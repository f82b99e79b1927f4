import {
  ApiError,
  SocketReader,
  checkScopes,
  describeError,
  errorFrameOf,
  ruleErrors,
  validationError,
  type Before,
  type EventBus,
  type Identity,
  type ServerFacts,
  type Stream,
  type StreamHandler,
  type StreamPlaces,
  type StreamSocket,
} from '@tandem/core';
import { publishChatEvent } from '../chat/chat-events.js';
import { chatErrors } from '../chat/chat.errors.js';
import type { ChatService } from '../chat/chat.service.js';
import type { End } from '../chat/message-log.js';
import { Id } from '../shared/schemas.js';
import type { ChannelFeeds, ChannelReader } from './channel-feeds.js';
import type { ChannelReplays } from './channel-replays.js';
import type { ChatClientFrame, ChatServerFrame } from './chat-frames.js';
import type { OwnStream } from './own-stream.js';
import { authenticateStream, refuseUnknown } from './stream-handshake.js';
import type { StreamTickets } from './stream-tickets.js';

/** Maximum number of channels in a handshake. */
const CHANNELS_AT_ONCE_MAX = 100;
/** Minimum time between two typing events of a reader, in milliseconds. */
const TYPING_MS = 2000;

/** The texts of unexpected failures; nothing internal reaches a client. */
const FAILURES: Record<ChatClientFrame['type'], string> = {
  subscribe: 'Failed to get channel messages',
  unsubscribe: 'Failed to get channel',
  'message.create': 'Failed to create chat message.',
  typing: 'Failed to get channel',
  read: 'Failed to update channel read state',
  ping: 'Failed to get channel',
};

/** The procedures that do the same as frames: a scope of an API key must name them. Others belong to the stream itself. */
const PROCEDURES: Partial<Record<ChatClientFrame['type'], string>> = {
  'message.create': 'chat.createMessage',
  typing: 'chat.createMessage',
  read: 'chat.markRead',
};

/** What a subscription asks for. */
type Subscribed = Omit<Extract<ChatClientFrame, { type: 'subscribe' }>, 'type' | 'channelId' | 'self'> & { channelId: string };
type Channels = Map<string, ChannelSocketReader>;

/** A socket's subscription to a channel. It counts against the limits while it lasts (decisions H2). */
class ChannelSocketReader extends SocketReader implements ChannelReader {
  from: End | undefined = undefined;
  typedAt = Number.NEGATIVE_INFINITY;

  constructor(
    socket: StreamSocket,
    identityId: string,
    readonly channelId: string,
    readonly hasSenders: boolean,
    private readonly places: StreamPlaces,
  ) {
    super(socket, identityId);
  }

  /** @throws requestErrors.tooMany */
  begin(): void {
    this.places.subscribe(this.socket);
    channelsOf(this.socket).set(this.channelId, this);
  }

  /** @returns whether it was active */
  stop(): boolean {
    if (!this.isReading) return false;
    this.places.unsubscribe(this.socket);
    this.drop();
    return channelsOf(this.socket).delete(this.channelId);
  }

  get isReading(): boolean {
    return channelsOf(this.socket).get(this.channelId) === this;
  }

  removed(): void {
    this.stop();
    say(this.socket, { type: 'unsubscribed', channelId: this.channelId });
  }
}

function channelsOf(socket: StreamSocket): Channels {
  return socket.state as Channels;
}

function say(socket: StreamSocket, frame: ChatServerFrame): void {
  socket.say(frame);
}

interface ChatStreamOptions {
  chat: ChatService;
  /** The hooks of the host. */
  before: Before;
  /** With the fields that a host declares. */
  frames: typeof ChatClientFrame;
  feeds: ChannelFeeds;
  replays: ChannelReplays;
  own: OwnStream;
  redeem: StreamTickets['redeem'];
  bus: EventBus;
  /** A frame that waits is answered by an error after `deadlineMs`. */
  facts: Pick<ServerFacts, 'places' | 'log' | 'deadlineMs' | 'typeIds' | 'actingAs'>;
}

/** `GET /messages/listen` (decisions S1 to S5). */
export function createChatStream(options: ChatStreamOptions): Stream {
  const { chat, before, frames, feeds, replays, own, redeem, bus, facts } = options;
  const { places, log, deadlineMs, typeIds, actingAs = (_, run) => run() } = facts;

  function leave(socket: StreamSocket, channelId: string): void {
    const reader = channelsOf(socket).get(channelId);
    if (reader?.stop()) feeds.leave(channelId, reader);
  }

  async function subscribe(socket: StreamSocket, identityId: string, asked: Subscribed): Promise<void> {
    const { channelId, sinceSeq, sinceChange, expand } = asked;
    leave(socket, channelId);
    const reader = new ChannelSocketReader(socket, identityId, channelId, expand !== undefined && expand.length > 0, places);
    reader.begin();
    try {
      const begun = await feeds.start(channelId, reader);
      if (!reader.isReading) return feeds.leave(channelId, reader);
      say(socket, { type: 'subscribed', channelId, ...begun });
      // later frames must not wait for a long replay
      if (sinceChange !== undefined) void replay(reader, replays.changesAfter(channelId, reader, sinceChange));
      else if (sinceSeq !== undefined) void replay(reader, replays.messagesAfter(channelId, reader, sinceSeq));
      else reader.goLive();
    } catch (error) {
      // one that the client has left owes nobody an answer
      if (reader.stop()) throw error;
    }
  }

  async function replay(reader: ChannelSocketReader, missed: AsyncGenerator<ChatServerFrame>): Promise<void> {
    const { socket } = reader;
    const end = await socket.replayTurn();
    try {
      await socket.drained();
      if (!reader.isReading) return;
      for await (const frame of missed) {
        if (!reader.isReading) return;
        say(socket, frame);
        await socket.drained();
      }
      reader.goLive();
    } catch (error) {
      log.error({ err: describeError(error) }, 'messages for an open stream could not be read');
      socket.end('failed');
    } finally {
      end();
    }
  }

  function expectNoGuest({ typeId }: Identity): void {
    if (typeId === typeIds.guest) throw ruleErrors.notAdmin();
  }

  async function tellTyping(socket: StreamSocket, identity: Identity, channelId: string): Promise<void> {
    const reader = channelsOf(socket).get(channelId);
    if (!reader) throw chatErrors.notSubscribed();
    expectNoGuest(identity);
    const { id: identityId } = identity;
    await chat.expectSpeaker(identityId, channelId);
    const now = performance.now();
    if (now - reader.typedAt < TYPING_MS) return;
    reader.typedAt = now;
    publishChatEvent(bus, { type: 'typing', channelId, identityId });
  }

  /** The input after the host's hook before the operation that a frame stands for. */
  async function asked<Input extends { channelId: string }>(operation: string, identity: Identity, input: Input): Promise<Input> {
    const ask = before.of(operation);
    if (!ask) return input;
    const endsAt = performance.now() + deadlineMs;
    // a hook runs only for those who may do it
    const may = operation === 'chat.createMessage' ? chat.expectSpeaker : chat.expectMember;
    await may(identity.id, input.channelId);
    return ask(input, identity, () => performance.now() >= endsAt);
  }

  async function post(socket: StreamSocket, { type, clientId, ...given }: Extract<ChatClientFrame, { type: 'message.create' }>) {
    const identity = identityOf(socket);
    expectNoGuest(identity);
    const message = await asked('chat.createMessage', identity, { ...given, clientId, senderId: identity.id });
    say(socket, { type: 'ack', clientId, message: await chat.post(message) });
  }

  async function read(socket: StreamSocket, { channelId, messageId }: Extract<ChatClientFrame, { type: 'read' }>) {
    const identity = identityOf(socket);
    const given = { channelId, identityId: identity.id, lastReadMessageId: messageId };
    const { lastReadMessageId, ...reader } = await asked('chat.markRead', identity, given);
    await chat.markRead({ ...reader, messageId: lastReadMessageId });
  }

  function identityOf({ access }: StreamSocket) {
    if (!access) throw new Error('a message stream requires an identity');
    return access.identity;
  }

  const handler: StreamHandler<ChatClientFrame> = {
    frames,
    failureOf: ({ type }) => FAILURES[type],
    async handle(socket, frame) {
      const identity = identityOf(socket);
      const { id: identityId } = identity;
      const name = PROCEDURES[frame.type];
      if (name) checkScopes(identity, { name, isRead: false });
      switch (frame.type) {
        case 'subscribe': {
          const { channelId } = frame;
          if (channelId !== undefined) return subscribe(socket, identityId, { ...frame, channelId });
          // it shows channels that no scope names
          checkScopes(identity, { name: 'chat.ownEvents', isRead: true });
          return own.subscribe(socket, identityId);
        }
        case 'unsubscribe': {
          const { channelId } = frame;
          if (channelId === undefined) own.leave(socket);
          else leave(socket, channelId);
          return say(socket, { type: 'unsubscribed', ...(channelId === undefined ? { self: true } : { channelId }) });
        }
        case 'message.create':
          return actingAs(identity, () => post(socket, frame));
        case 'typing':
          return tellTyping(socket, identity, frame.channelId);
        case 'read':
          return actingAs(identity, () => read(socket, frame));
        case 'ping':
          return undefined;
      }
    },
    closed(socket) {
      own.leave(socket);
      for (const channelId of channelsOf(socket).keys()) leave(socket, channelId);
    },
  };

  /**
   * Subscribes to the channels of the handshake. Membership is checked again, because it may have ended since the check at the
   * upgrade.
   */
  async function subscribeAll(socket: StreamSocket, identityId: string, channelIds: readonly string[]): Promise<void> {
    const begin = async (channelId: string) => {
      try {
        await subscribe(socket, identityId, { channelId });
      } catch (error) {
        if (error instanceof ApiError) return socket.say(errorFrameOf(error, { channelId }));
        log.error({ err: describeError(error) }, 'a stream of messages could not begin');
        socket.end('failed');
      }
    };
    await Promise.all(channelIds.map(begin));
  }

  return {
    path: '/messages/listen',
    async open(handshake) {
      const access = await authenticateStream('messages', handshake, redeem);
      const { id: identityId } = access.identity;
      const { query } = handshake;
      const channelIds = [...new Set(query.getAll('channelId'))];
      if (channelIds.length > CHANNELS_AT_ONCE_MAX)
        throw validationError([`query parameter 'channelId' must NOT have more than ${CHANNELS_AT_ONCE_MAX} items`]);
      // by one query: who is refused may ask again and again
      const members = await chat.membersAmong(new Map(channelIds.map((channelId) => [channelId, new Set([identityId])])));
      if (channelIds.some((channelId) => !members.get(channelId)?.has(identityId))) throw chatErrors.notSubscribed();
      refuseUnknown(query, ['channelId']);
      if (channelIds.some((channelId) => !Id.safeParse(channelId).success))
        throw validationError(['query parameter \'channelId\' must match format "uuid"']);
      return {
        access,
        handler,
        begin(socket) {
          socket.state = new Map() satisfies Channels;
          say(socket, { type: 'ready' });
          void subscribeAll(socket, identityId, channelIds);
        },
      };
    },
  };
}
