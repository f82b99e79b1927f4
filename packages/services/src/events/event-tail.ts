import type { EventBus } from '@tandem/core';

/** Published when events have been appended to the log, so that readers need not look for them. */
export const EVENTS_APPENDED = 'events.appended';
/**
 * Lets readers wait for events behind those that they know; one look serves all readers of a process.
 * @param last the id of the last event; null before the first
 * @param lookedMs how often to look for what another instance has appended, where the bus does not tell, in milliseconds
 */
export function createEventTail(bus: EventBus, last: () => Promise<string | null>, lookedMs: number) {
  const waiting = new Map<() => void, string>();
  let stop: (() => void) | undefined;

  async function look(): Promise<void> {
    // while the store is away, nothing is there to read
    const end = await last().catch(() => null);
    for (const [resolve, known] of waiting) if (end !== null && end > known) resolve();
  }

  function begin(): () => void {
    const timer = setInterval(() => void look(), lookedMs).unref();
    const leave = bus.subscribe(EVENTS_APPENDED, () => void look());
    return () => {
      clearInterval(timer);
      leave();
    };
  }

  /** Resolves when there is an event behind `known`, or when the signal ends the wait. */
  return function beyond(known: string | undefined, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        waiting.delete(done);
        signal.removeEventListener('abort', done);
        if (waiting.size === 0) {
          stop?.();
          stop = undefined;
        }
        resolve();
      };
      if (signal.aborted) return resolve();
      signal.addEventListener('abort', done);
      waiting.set(done, known ?? '');
      stop ??= begin();
      // one may have come meanwhile
      void look();
    });
  };
}
