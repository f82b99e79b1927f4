import type { EventBus } from '@tandem/core';

/** Published when events have been appended to the log, so that readers need not look for them. */
export const EVENTS_APPENDED = 'events.appended';
/** With the id of the last event, if whoever says so has appended it. */
export interface Appended {
  last?: string | undefined;
}

/**
 * Lets readers wait for events behind those that they know; one look serves all readers of a process.
 * @param last the id of the last event; null before the first
 * @param lookedMs how often to look for what another instance has appended, where the bus does not tell, in milliseconds
 */
export function createEventTail(bus: EventBus, last: () => Promise<string | null>, lookedMs: number) {
  const waiting = new Map<() => void, string>();
  let timer: NodeJS.Timeout | undefined;
  let isListening = false;
  /** The last event that this process knows of. */
  let latest = '';
  /** What the reader knew that was last told at once of a later event. */
  let answered: string | undefined;

  function learn(end: string): void {
    if (end > latest) latest = end;
    for (const [resolve, known] of waiting) if (latest > known) resolve();
  }

  async function look(): Promise<void> {
    const before = latest;
    // while the store is away, nothing is there to read
    const end = (await last().catch(() => null)) ?? '';
    // the log may have been set back
    if (latest === before) latest = end;
    learn(end);
  }

  /** From the first reader on, so that none has to look for what came while it did something else. */
  function listen(): void {
    if (isListening) return;
    isListening = true;
    bus.subscribe(
      EVENTS_APPENDED,
      (event) => {
        const { last: end } = event as Appended;
        if (end === undefined) void look();
        else learn(end);
      },
      () => void look(),
    );
    void look();
  }

  /**
   * Resolves when there is an event behind `known`, or when the signal ends the wait.
   * @returns the last event that this process knows of; '' before the first
   */
  return function beyond(known: string | undefined, signal: AbortSignal): Promise<string> {
    return new Promise((resolve) => {
      const done = () => {
        waiting.delete(done);
        signal.removeEventListener('abort', done);
        if (waiting.size === 0) {
          clearInterval(timer);
          timer = undefined;
        }
        resolve(latest);
      };
      listen();
      const at = known ?? '';
      waiting.set(done, at);
      const isBehind = latest > at;
      if (signal.aborted || (isBehind && at !== answered)) {
        answered = at;
        return done();
      }
      // it has read again and got no further
      if (isBehind) void look();
      signal.addEventListener('abort', done);
      timer ??= setInterval(() => void look(), lookedMs).unref();
    });
  };
}
