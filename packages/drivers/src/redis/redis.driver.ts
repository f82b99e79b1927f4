import { Redis } from 'ioredis';

/** Longest time for a command, in milliseconds: nobody waits for a Redis that is down. */
const COMMAND_MS = 300;
/** Silence after which a connection is replaced while an answer is due. */
const SILENCE_MS = 1000;
const CONNECT_MS = 1000;
/** Longest pause between attempts to connect, so that a Redis that is back is noticed soon. */
const RETRY_MS = 1000;
/** Shortest time between two departures from a replica: at this address there may be no other, and each may lose events. */
const LEAVE_MS = 60_000;

/** A Redis connection that reconnects by itself. While it is down, each command fails at once; none is queued. */
export interface RedisDriver {
  readonly client: Redis;
  /** Starts connecting; commands fail until connected. Never throws. */
  connect(): void;
  /** Tries what it is used for: scripts, keys, events. @throws when it does not answer, or refuses */
  verify(): Promise<void>;
  close(): void;
}

/** Called once per outage. */
export interface RedisEvents {
  onAway?(error: Error): void;
  onBack?(): void;
}

/** Begins the names of all channels of events. Pub/sub ignores database numbers: with them systems may share a Redis. */
export const eventPrefixOf = ({ options }: Redis): string => `tandem:${options.db ?? 0}:events:`;

/** Whether `openRedis` accepts this URL. */
export function isRedisUrl(text: string): boolean {
  return /^rediss?:\/\/./.test(text) && URL.canParse(text);
}

/**
 * Opens a Redis. Connects only on `connect` or `verify`.
 * @param url `redis://` or, over TLS, `rediss://`; its path is the database number
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
    reconnectOnError: leaves,
  });
  let isClosing = false;
  let isAway = false;
  let lastError: Error | undefined;
  let leftAt = -Infinity;

  /** Whether an answer shows a former primary: the address may lead to the new one by now. */
  function leaves(error: Error): boolean {
    // not at the start: Redis 6 names the script first
    if (!error.message.includes('READONLY') || performance.now() - leftAt < LEAVE_MS) return false;
    leftAt = performance.now();
    lastError = error;
    return true;
  }

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

  /** Connects, unless a connection is being made already. */
  async function begin(): Promise<void> {
    if (client.status === 'wait') await client.connect();
  }

  /** Subscribes on a connection of its own, which can do little else then. */
  async function tryEvents(): Promise<void> {
    const channel = `${eventPrefixOf(client)}!verify`;
    const listener = client.duplicate();
    listener.on('error', () => undefined);
    try {
      await listener.connect();
      await listener.subscribe(channel);
      await client.publish(channel, '');
    } finally {
      listener.disconnect();
    }
  }

  return {
    client,
    connect: () => void begin().catch(() => undefined),
    async verify() {
      try {
        await begin();
        await client.eval("redis.call('set', KEYS[1], ''); return redis.call('del', KEYS[1])", 1, 'tandem:verify');
        await tryEvents();
      } catch (error) {
        // the reason for the refusal, not just that the connection is closed
        throw lastError ?? error;
      }
    },
    close() {
      isClosing = true;
      client.disconnect();
    },
  };
}
