import { describeError } from './error-log.js';
import type { Log } from './context.js';

/** Tells other parts of the server, and with a shared driver other instances, what has been written. */
export interface EventBus {
  /**
   * Delivers `event`, which is JSON, once to each subscriber of the topic. Never throws, and does not wait for them.
   */
  publish(topic: string, event: object): void;
  /**
   * Calls `handler` with each later event of the topic until the returned function is called.
   * @param onResumed called when events of other processes may have been missed and delivery works again: the
   * subscriber has to read the store. Happens after an outage, and once soon after subscribing.
   */
  subscribe(topic: string, handler: (event: object) => void, onResumed?: () => void): () => void;
}

/**
 * An event bus within one process; it loses no events. A subscriber that throws is logged and does not affect the
 * others.
 */
export function createInProcessBus(log: Pick<Log, 'error'>): EventBus {
  const topics = new Map<string, Set<(event: object) => void>>();
  return {
    publish(topic, event) {
      for (const handler of topics.get(topic) ?? []) {
        try {
          handler(event);
        } catch (error) {
          log.error({ err: describeError(error), topic }, 'a subscriber of the event bus failed');
        }
      }
    },
    subscribe(topic, handler) {
      // a function of its own per subscription, so that one handler may subscribe twice and leave once
      const entry = (event: object) => handler(event);
      const handlers = topics.get(topic) ?? new Set();
      topics.set(topic, handlers.add(entry));
      return () => {
        handlers.delete(entry);
        if (handlers.size === 0 && topics.get(topic) === handlers) topics.delete(topic);
      };
    },
  };
}
