import { createAccessWatch, createStreamServer, type EventBus, type ServerFacts } from '@tandem/core';
import type { Storage } from '@tandem/storage';
import { SESSION_ENDED, type SessionEnded } from '../authentication/sessions.service.js';
import { IDENTITY_CHANGED, type IdentityChanged } from '../identities/identity-changes.js';
import type { Services } from '../services.js';
import { createNotificationStream } from './notification-stream.js';

interface StreamsOptions {
  services: Services;
  facts: ServerFacts;
  storage: Storage;
  bus: EventBus;
  /** Between two signs of life that are asked of each client, in milliseconds. */
  heartbeatMs?: number | undefined;
}

/** All streams (decisions, "Streams"). */
export function createStreams({ services, facts, storage, bus, heartbeatMs }: StreamsOptions) {
  const { clock } = storage;
  const { log } = facts;
  const { redeem } = services.streamTickets;
  const watch = createAccessWatch({ clock, log, findEnded: services.sessions.endedAmong });
  const server = createStreamServer(facts, { watch, heartbeatMs });
  const stops = [
    bus.subscribe(IDENTITY_CHANGED, (event) => watch.checkIdentity((event as IdentityChanged).identityId)),
    bus.subscribe(SESSION_ENDED, (event) => watch.checkSession((event as SessionEnded).sessionId)),
  ];
  const streams = [createNotificationStream({ notifications: services.notifications, redeem, bus, clock, log })];

  return {
    routes: () => server.routes(streams),
    handleUpgrades: server.handleUpgrades,
    async close(): Promise<void> {
      for (const stop of stops) stop();
      await server.close();
    },
  };
}
