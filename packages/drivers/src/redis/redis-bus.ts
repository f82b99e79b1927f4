import { randomUUID } from 'node:crypto';
import { createInProcessBus, describeError, type EventBus, type Log } from '@tandem/core';
import { eventPrefixOf, type RedisDriver } from './redis.driver.js';

/**
 * Interval of liveness checks of the listening connection, and of announcements of lost events, in milliseconds. Those of several
 * processes within it make one resumption.
 */
const CHECK_MS = 1000;
/** Topics asked for by one command: it is answered in the time of a command, however many there are. */
const TOPICS_AT_ONCE = 1000;

/** An event bus over several processes. */
export interface RedisBus extends EventBus {
  /** Stops listening. The owner of the Redis connection closes it. */
  close(): void;
}

/**
 * An event bus over Redis pub/sub. Subscribers of this process get an event at once, even when Redis is down. Redis
 * stores nothing: events published or awaited while it is down are lost to other processes, which `onResumed` tells
 * them.
 */
export function createRedisBus({ client }: Pick<RedisDriver, 'client'>, log: Log): RedisBus {
  const local = createInProcessBus(log);
  const origin = randomUUID();
  const prefix = eventPrefixOf(client);
  /** Announces that a process has lost events: all others resume. */
  const lostChannel = `${prefix}!lost`;
  /** The topics with subscribers in this process, and the callbacks that make each resume. */
  const topics = new Map<string, Set<() => void>>();
  const listener = client.duplicate({ autoResubscribe: false });
  /** What Redis has last answered by an error, as to a user without channels. */
  const refused = new Set<'listen' | 'send'>();
  /** The attempt under way to listen to all topics. */
  let asking: object | undefined;
  let hasLost = false;
  let haveOthersLost = false;

  function resume(callbacks: Iterable<() => void>): void {
    for (const onResumed of callbacks) {
      try {
        onResumed();
      } catch (error) {
        log.error({ err: describeError(error) }, 'a subscriber of the event bus failed to resume');
      }
    }
  }
  function resumeAll(): void {
    haveOthersLost = false;
    resume([...topics.values()].flatMap((callbacks) => [...callbacks]));
  }

  /** Reconnects when it is unknown what the connection listens to. */
  function reconnect(): void {
    if (listener.status === 'ready') listener.disconnect(true);
  }

  /** Warns once, until nothing is refused: outages are reported by the connection. @returns whether Redis has refused */
  function noteRefusal(what: 'listen' | 'send', error: unknown): boolean {
    if (!(error instanceof Error) || error.name !== 'ReplyError') return false;
    if (refused.size === 0)
      log.warn({ err: describeError(error) }, 'Redis refuses events: instances hear of each other late, or not at all');
    refused.add(what);
    return true;
  }

  function receive(channel: string, text: string): void {
    if (text.startsWith(origin)) return;
    if (channel === lostChannel) return void (haveOthersLost = true);
    try {
      local.publish(channel.slice(prefix.length), JSON.parse(text.slice(origin.length)) as object);
    } catch (error) {
      log.error({ err: describeError(error) }, 'an event of another process could not be read');
    }
  }

  async function listenToAll(): Promise<void> {
    const own = (asking = {});
    try {
      await listener.subscribe(lostChannel);
      const all = [...topics.keys()];
      for (let at = 0; at < all.length; at += TOPICS_AT_ONCE) {
        // others have been left meanwhile
        const wanted = all.slice(at, at + TOPICS_AT_ONCE).filter((topic) => topics.has(topic));
        if (wanted.length > 0) await listener.subscribe(...wanted.map((topic) => prefix + topic));
        // a new connection has begun to ask for all
        if (asking !== own) return;
      }
      refused.delete('listen');
      resumeAll();
    } catch (error) {
      // `check` asks again: another connection would be refused at once
      if (asking === own && !noteRefusal('listen', error)) reconnect();
    } finally {
      if (asking === own) asking = undefined;
    }
  }

  async function listenTo(topic: string, callbacks: Set<() => void>): Promise<void> {
    if (listener.status !== 'ready') return;
    try {
      await listener.subscribe(prefix + topic);
      if (topics.get(topic) === callbacks) resume([...callbacks]);
    } catch (error) {
      if (!noteRefusal('listen', error)) reconnect();
    }
  }

  async function send(channel: string, text: string): Promise<void> {
    try {
      await client.publish(channel, origin + text);
      refused.delete('send');
    } catch (error) {
      noteRefusal('send', error);
      hasLost = true;
    }
  }

  async function check(): Promise<void> {
    if (haveOthersLost) resumeAll();
    if (hasLost && client.status === 'ready') {
      hasLost = false;
      await send(lostChannel, '');
    }
    if (listener.status !== 'ready' || asking) return;
    if (refused.has('listen')) await listenToAll();
    else await listener.ping().catch(reconnect);
  }

  listener.on('message', receive);
  listener.on('ready', () => void listenToAll());
  // the shared connection reports outages
  listener.on('error', () => undefined);
  void listener.connect().catch(() => undefined);
  const timer = setInterval(() => void check(), CHECK_MS).unref();

  return {
    publish(topic, event) {
      local.publish(topic, event);
      void send(prefix + topic, JSON.stringify(event));
    },
    subscribe(topic, handler, onResumed = () => undefined) {
      // a function of its own per subscription, so that one callback may be added twice and removed once
      const callback = () => onResumed();
      const stop = local.subscribe(topic, handler);
      const existing = topics.get(topic);
      const callbacks = existing ?? new Set();
      callbacks.add(callback);
      if (!existing) {
        topics.set(topic, callbacks);
        void listenTo(topic, callbacks);
      }
      return () => {
        stop();
        callbacks.delete(callback);
        if (callbacks.size > 0 || topics.get(topic) !== callbacks) return;
        topics.delete(topic);
        if (listener.status === 'ready') void listener.unsubscribe(prefix + topic).catch(reconnect);
      };
    },
    close() {
      clearInterval(timer);
      listener.disconnect();
    },
  };
}
