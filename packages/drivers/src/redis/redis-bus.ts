import { randomUUID } from 'node:crypto';
import { createInProcessBus, describeError, type EventBus, type Log } from '@tandem/core';
import type { RedisDriver } from './redis.driver.js';

/** How often a connection that only listens is asked whether it lives, and lost events are made known, in milliseconds. */
const CHECK_MS = 1000;

/** An event bus over several processes. */
export interface RedisBus extends EventBus {
  /** Ends the listening. The Redis is its owner's to close. */
  close(): void;
}

/**
 * An event bus by Redis' pub/sub. Subscribers of this process get an event at once, and whatever becomes of Redis; the others' get it by
 * Redis, which keeps nothing: what is published or listened for while it is away is lost to them, and `onResumed` tells them so.
 */
export function createRedisBus({ client }: Pick<RedisDriver, 'client'>, log: Log): RedisBus {
  const local = createInProcessBus(log);
  const origin = randomUUID();
  // pub/sub knows no databases: their numbers keep systems apart that share a Redis
  const prefix = `tandem:${client.options.db ?? 0}:events:`;
  /** Says that a process has lost events: every other one resumes. */
  const lostChannel = `${prefix}!lost`;
  /** The topics with subscribers in this process, and what tells each that it has to resume. */
  const topics = new Map<string, Set<() => void>>();
  const listener = client.duplicate({ autoResubscribe: false });
  let hasLost = false;

  function resume(callbacks: Iterable<() => void>): void {
    for (const onResumed of callbacks) {
      try {
        onResumed();
      } catch (error) {
        log.error({ err: describeError(error) }, 'a subscriber of the event bus failed to resume');
      }
    }
  }
  const resumeAll = () => resume([...topics.values()].flatMap((callbacks) => [...callbacks]));

  /** A connection of which it is not known what it listens to is made anew. */
  function reconnect(): void {
    if (listener.status === 'ready') listener.disconnect(true);
  }

  function receive(channel: string, text: string): void {
    if (text.startsWith(origin)) return;
    if (channel === lostChannel) return resumeAll();
    try {
      local.publish(channel.slice(prefix.length), JSON.parse(text.slice(origin.length)) as object);
    } catch (error) {
      log.error({ err: describeError(error) }, 'an event of another process could not be read');
    }
  }

  async function listenToAll(): Promise<void> {
    try {
      await listener.subscribe(lostChannel, ...[...topics.keys()].map((topic) => prefix + topic));
      resumeAll();
    } catch {
      reconnect();
    }
  }

  async function listenTo(topic: string, callbacks: Set<() => void>): Promise<void> {
    if (listener.status !== 'ready') return;
    try {
      await listener.subscribe(prefix + topic);
      if (topics.get(topic) === callbacks) resume([...callbacks]);
    } catch {
      reconnect();
    }
  }

  async function send(channel: string, text: string): Promise<void> {
    try {
      await client.publish(channel, origin + text);
    } catch {
      hasLost = true;
    }
  }

  async function check(): Promise<void> {
    if (hasLost && client.status === 'ready') {
      hasLost = false;
      await send(lostChannel, '');
    }
    if (listener.status === 'ready') await listener.ping().catch(reconnect);
  }

  listener.on('message', receive);
  listener.on('ready', () => void listenToAll());
  // it is the shared connection that tells of outages
  listener.on('error', () => undefined);
  void listener.connect().catch(() => undefined);
  const timer = setInterval(() => void check(), CHECK_MS).unref();

  return {
    publish(topic, event) {
      local.publish(topic, event);
      void send(prefix + topic, JSON.stringify(event));
    },
    subscribe(topic, handler, onResumed = () => undefined) {
      // an own function each time, so that one callback may be given twice and taken back once
      const callback = () => onResumed();
      const stop = local.subscribe(topic, handler);
      const known = topics.get(topic);
      const callbacks = known ?? new Set();
      callbacks.add(callback);
      if (!known) {
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
