import { describeError } from './error-log.js';
import type { Log } from './context.js';

/** Tells other parts of the server, and with a shared driver other instances, what has been written. */
export interface EventBus {
  /** Hands `event`, which is JSON, to the topic's subscribers, once each. Never throws, and never waits for them. */
  publish(topic: string, event: object): void;
  /**
   * Calls `handler` with each event of the topic from now on, until the returned function is called.
   * @param onResumed called whenever events of other processes may have been missed, and come again from now on: what they told is to be
   * read from the store. That is so after an outage, and once soon after the subscription.
   */
  subscribe(topic: string, handler: (event: object) => void, onResumed?: () => void): () => void;
}

/** An event bus for one process, which misses nothing. A subscriber that throws is logged and disturbs no other. */
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
      // an own function each time, so that one handler may subscribe twice and leave once
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
