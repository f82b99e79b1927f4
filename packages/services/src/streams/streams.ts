import {
  createAccessWatch,
  createStreamServer,
  createTrpcStream,
  type Before,
  type EventBus,
  type ServerFacts,
} from '@tandem/core';
import type { Storage } from '@tandem/storage';
import type { AnyTRPCRouter } from '@trpc/server';
import { SESSION_ENDED, type SessionEnded } from '../authentication/sessions/session-ended.js';
import { IDENTITY_CHANGED, type IdentityChanged } from '../identities/identity-changes.js';
import { KEY_ENDED, type KeyEnded } from '../keys/key-access.js';
import type { ServiceName } from '../router.js';
import type { Services } from '../router.js';
import { createChannelFeeds } from './channel-feeds.js';
import { createChannelReplays } from './channel-replays.js';
import { ChatClientFrame } from './chat-frames.js';
import { createChatStream } from './chat-stream.js';
import { createOwnFeeds } from './own-feeds.js';
import { createOwnStream } from './own-stream.js';
import { createNotificationFeeds } from './notification-feeds.js';
import { createNotificationStream } from './notification-stream.js';
import { createSenderCards } from './sender-cards.js';
import { createSubscriptions } from './subscriptions.router.js';

interface StreamsOptions {
  services: Services;
  facts: ServerFacts;
  storage: Storage;
  bus: EventBus;
  /** The services that this server runs. */
  names: readonly ServiceName[];
  /** The hooks of the host. */
  before: Before;
  /** Interval between heartbeats, in milliseconds. */
  heartbeatMs?: number | undefined;
}

export type Streams = ReturnType<typeof createStreams>;

/** All streams, and the same events as tRPC subscriptions (decisions S1 to S7). */
export function createStreams({ services, facts, storage, bus, names, before, heartbeatMs }: StreamsOptions) {
  const { clock } = storage;
  const { log } = facts;
  const { chat, sessions, keyAccess } = services;
  const { redeem } = services.streamTickets;
  const watch = createAccessWatch({
    clock,
    log,
    async findEnded(callers) {
      const [withKey, signedIn] = [callers.filter(({ key }) => key), callers.filter(({ key }) => !key)];
      const ended = await Promise.all([sessions.endedAmong(signedIn), keyAccess.endedAmong(withKey)]);
      return new Set(ended.flatMap((ids) => [...ids]));
    },
  });
  const stops = [
    bus.subscribe(IDENTITY_CHANGED, (event) => watch.checkIdentity((event as IdentityChanged).identityId)),
    bus.subscribe(SESSION_ENDED, (event) => watch.checkSession((event as SessionEnded).sessionId)),
    bus.subscribe(KEY_ENDED, (event) => watch.checkSession((event as KeyEnded).keyId)),
  ];
  const frames = services.hostFields.schema(ChatClientFrame);
  const senders = createSenderCards({ chat, people: services.people, log });
  const channels = createChannelFeeds({ bus, chat, senders, log });
  const replays = createChannelReplays({ chat, senders });
  const own = createOwnFeeds({ bus, chat, log });
  const notifications = createNotificationFeeds({ notifications: services.notifications, bus, clock, log });
  const server = createStreamServer(facts, { watch, heartbeatMs });
  const streams = [
    ...(names.includes('chat')
      ? [
          createChatStream({
            chat,
            before,
            frames,
            feeds: channels,
            replays,
            own: createOwnStream({ feeds: own, places: facts.places, log }),
            redeem,
            bus,
            facts,
          }),
        ]
      : []),
    ...(names.includes('notifications') ? [createNotificationStream({ feeds: notifications, redeem, log })] : []),
  ];
  const { events, organizations } = services;
  const subscriptions = createSubscriptions({
    channels,
    replays,
    own,
    notifications,
    events,
    roleOf: organizations.roleOf,
    watch,
    log,
  });

  return {
    subscriptions,
    routes: (router: AnyTRPCRouter) => server.routes([...streams, createTrpcStream(router, watch)]),
    handleUpgrades: server.handleUpgrades,
    state: server.state,
    async close(): Promise<void> {
      for (const stop of stops) stop();
      subscriptions.close();
      await server.close();
    },
  };
}
