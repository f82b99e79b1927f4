import { useSyncExternalStore } from 'react';

/** What is written and not yet sent, by channel. */
export type Drafts = ReturnType<typeof createDrafts>;

export function createDrafts() {
  const texts = new Map<string, string>();
  const listeners = new Set<() => void>();
  return {
    of: (channelId: string) => texts.get(channelId) ?? '',
    write(channelId: string, text: string): void {
      texts.set(channelId, text);
      for (const listener of listeners) listener();
    },
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** A channel's draft, which outlives its composer. */
export function useDraft(drafts: Drafts, channelId: string): string {
  return useSyncExternalStore(drafts.subscribe, () => drafts.of(channelId));
}
