import { requestErrors } from '../errors.js';

/** Limits of what may be open in a process. */
export interface StreamLimits {
  /** Connections of an identity, or of an address without a signed-in identity. Default 100. */
  connections: number;
  /** Subscriptions per connection. Default 1,000. */
  subscriptionsPerConnection: number;
  /** Subscriptions of an identity over all its connections. Default 5,000. */
  subscriptions: number;
}
const LIMITS: StreamLimits = { connections: 100, subscriptionsPerConnection: 1000, subscriptions: 5000 };

/** Frames, or calls in them, accepted from an identity per second over all its connections. */
const FRAMES_A_SECOND = 200;

/**
 * Milliseconds between a holder's starts of tRPC subscriptions, and how many need not wait, because hundreds at once would block other
 * requests.
 */
const START_MS = 10;
const STARTS_AT_ONCE = 20;

/** Seconds after which a holder with too many may retry. */
const RETRY_AFTER_TOO_MANY = 10;

/** One connection: a WebSocket, or a server-sent events answer. */
export interface StreamConnection {
  /**
   * The holder that it counts for: an identity's id, or an address group where nobody has signed in. Empty while it is
   * not counted.
   */
  holder: string;
  /** Subscriptions that it carries: channels, tRPC subscriptions. */
  subscriptions: number;
}

interface Taken {
  connections: number;
  subscriptions: number;
}

/** Frames of a holder in one second. */
interface Second {
  at: number;
  frames: number;
}

export type StreamPlaces = ReturnType<typeof createStreamPlaces>;

/**
 * The single count of everything open in a process: WebSockets, tRPC subscriptions, server-sent events, so that no
 * transport escapes the limits (decisions H2). Each place is released once; a closed connection holds none.
 */
export function createStreamPlaces(limits: Partial<StreamLimits> = {}) {
  const max = { ...LIMITS, ...limits };
  const takenBy = new Map<string, Taken>();
  const secondOf = new Map<string, Second>();
  /** When each holder's starts will be over, in milliseconds. */
  const startingUntil = new Map<string, number>();

  /** @throws requestErrors.tooMany when a holder has no room for this many more */
  function check(holder: string, more: Taken): void {
    const { connections, subscriptions } = takenBy.get(holder) ?? { connections: 0, subscriptions: 0 };
    if (connections + more.connections > max.connections || subscriptions + more.subscriptions > max.subscriptions)
      throw requestErrors.tooMany({ retryAfter: RETRY_AFTER_TOO_MANY });
  }

  function change(holder: string, by: Taken): void {
    const before = takenBy.get(holder) ?? { connections: 0, subscriptions: 0 };
    const after = { connections: before.connections + by.connections, subscriptions: before.subscriptions + by.subscriptions };
    if (after.connections > 0) return void takenBy.set(holder, after);
    takenBy.delete(holder);
    secondOf.delete(holder);
    startingUntil.delete(holder);
  }

  function leave({ holder, subscriptions }: StreamConnection): void {
    if (holder !== '') change(holder, { connections: -1, subscriptions: -subscriptions });
  }

  function thisSecond(holder: string): Second {
    const at = Math.floor(performance.now() / 1000);
    const second = secondOf.get(holder);
    return second?.at === at ? second : { at, frames: 0 };
  }

  return {
    /** Checks whether a holder may open a connection. @throws requestErrors.tooMany */
    checkConnection: (holder: string): void => check(holder, { connections: 1, subscriptions: 0 }),

    /**
     * Counts a connection and its subscriptions for a holder; a previous holder is released.
     * @throws requestErrors.tooMany, leaving the count as it was
     */
    open(connection: StreamConnection, holder: string): void {
      if (connection.holder === holder) return;
      const whole = { connections: 1, subscriptions: connection.subscriptions };
      check(holder, whole);
      leave(connection);
      change(holder, whole);
      connection.holder = holder;
    },

    /** @throws requestErrors.tooMany, also for a closed connection */
    subscribe(connection: StreamConnection): void {
      const more = { connections: 0, subscriptions: 1 };
      if (connection.holder === '' || connection.subscriptions >= max.subscriptionsPerConnection)
        throw requestErrors.tooMany({ retryAfter: RETRY_AFTER_TOO_MANY });
      check(connection.holder, more);
      change(connection.holder, more);
      connection.subscriptions += 1;
    },

    /**
     * Waits for the holder's turn to start a subscription.
     * @throws requestErrors.unavailable when the connection has closed meanwhile
     */
    async turn(connection: StreamConnection): Promise<void> {
      const now = performance.now();
      const from = Math.max(startingUntil.get(connection.holder) ?? 0, now - STARTS_AT_ONCE * START_MS);
      if (takenBy.has(connection.holder)) startingUntil.set(connection.holder, from + START_MS);
      if (from > now) await new Promise((resolve) => setTimeout(resolve, from - now));
      if (connection.holder === '') throw requestErrors.unavailable();
    },

    unsubscribe(connection: StreamConnection): void {
      if (connection.holder === '') return;
      change(connection.holder, { connections: 0, subscriptions: -1 });
      connection.subscriptions -= 1;
    },

    /** Counts frames received on a connection. @returns how many are within the holder's rate for this second */
    frames({ holder }: StreamConnection, count: number): number {
      const second = thisSecond(holder);
      if (takenBy.has(holder)) secondOf.set(holder, second);
      const room = Math.max(0, Math.min(count, FRAMES_A_SECOND - second.frames));
      second.frames += count;
      return room;
    },

    /** Whether a connection's holder has sent twice its rate in this second. */
    isFlooding: ({ holder }: StreamConnection): boolean => thisSecond(holder).frames >= 2 * FRAMES_A_SECOND,

    close(connection: StreamConnection): void {
      leave(connection);
      connection.holder = '';
      connection.subscriptions = 0;
    },

    /** Everything open in the process. */
    total(): Taken {
      const total = { connections: 0, subscriptions: 0 };
      for (const { connections, subscriptions } of takenBy.values()) {
        total.connections += connections;
        total.subscriptions += subscriptions;
      }
      return total;
    },
  };
}
