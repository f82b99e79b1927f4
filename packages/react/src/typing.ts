import { createStore } from './store.js';

/** How long somebody is shown as typing, and how often typing is reported, in milliseconds. */
const SHOWN_MS = 4000;
const REPORT_MS = 2000;

export interface Typist {
  channelId: string;
  identityId: string;
}

/** Who is typing where, and when to report one's own typing. */
export function createTyping() {
  const people = createStore<readonly Typist[]>([]);
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const reported = new Map<string, number>();
  const keyOf = (channelId: string, identityId: string) => `${channelId} ${identityId}`;

  function stop(channelId: string, identityId: string): void {
    const key = keyOf(channelId, identityId);
    if (!timers.has(key)) return;
    clearTimeout(timers.get(key));
    timers.delete(key);
    people.set(people.get().filter((one) => one.channelId !== channelId || one.identityId !== identityId));
  }

  return {
    people,
    stop,
    start(channelId: string, identityId: string): void {
      stop(channelId, identityId);
      timers.set(keyOf(channelId, identityId), setTimeout(stop, SHOWN_MS, channelId, identityId));
      people.set([...people.get(), { channelId, identityId }]);
    },
    clear(): void {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
      people.set([]);
    },
    /** Reports one's own typing, if it is time for another report. @param send returns whether it was sent */
    report(channelId: string, send: (channelId: string) => boolean): void {
      const now = Date.now();
      if (now - (reported.get(channelId) ?? 0) >= REPORT_MS && send(channelId)) reported.set(channelId, now);
    },
  };
}
