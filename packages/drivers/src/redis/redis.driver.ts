import { Redis } from 'ioredis';

/** Longest that one command may take, in milliseconds: nobody waits for a Redis that is away. */
const COMMAND_MS = 300;
/** Silence, while an answer is due, after which a connection is given up and made anew. */
const SILENCE_MS = 1000;
const CONNECT_MS = 1000;
/** The longest between two tries to connect: so soon a Redis that is back is noticed. */
const RETRY_MS = 1000;

/** A connection to Redis that comes back by itself. While it is away each command fails at once; none is kept for later. */
export interface RedisDriver {
  readonly client: Redis;
  /** Begins to connect; commands fail until it has. Never throws. */
  connect(): void;
  /** Asks the server. @throws when it does not answer, or refuses */
  verify(): Promise<void>;
  close(): void;
}

/** Said once for each outage. */
export interface RedisEvents {
  onAway?(error: Error): void;
  onBack?(): void;
}

/** Whether this is an address for `openRedis`. */
export function isRedisUrl(text: string): boolean {
  return /^rediss?:\/\/./.test(text) && URL.canParse(text);
}

/**
 * Opens a Redis. Nothing is connected to before `connect` or `verify`.
 * @param url `redis://` or, over TLS, `rediss://`; its path names the database by number
 */
export function openRedis(url: string, { onAway, onBack }: RedisEvents = {}): RedisDriver {
  const client = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_MS,
    socketTimeout: SILENCE_MS,
    connectTimeout: CONNECT_MS,
    retryStrategy: (times) => Math.min(times * 100, RETRY_MS),
  });
  let isClosing = false;
  let isAway = false;
  let lastError: Error | undefined;

  client.on('error', (error: Error) => {
    lastError = error;
  });
  client.on('close', () => {
    if (isClosing || isAway) return;
    isAway = true;
    onAway?.(lastError ?? new Error('the connection was closed'));
  });
  client.on('ready', () => {
    if (isAway) onBack?.();
    isAway = false;
    lastError = undefined;
  });

  /** A connection under way, or one that is made anew, is not begun a second time. */
  async function begin(): Promise<void> {
    if (client.status === 'wait') await client.connect();
  }

  return {
    client,
    connect: () => void begin().catch(() => undefined),
    async verify() {
      try {
        await begin();
        await client.ping();
      } catch (error) {
        // why it was refused, and not only that the connection is closed
        throw lastError ?? error;
      }
    },
    close() {
      isClosing = true;
      client.disconnect();
    },
  };
}
