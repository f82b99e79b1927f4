import type { UploadedFile } from '@tandem/client';
import { useSyncExternalStore } from 'react';

/** A file that is to be sent: on its way to the server, there, or refused. */
export interface DraftFile {
  readonly id: string;
  readonly file: File;
  /** From 0 to 1. */
  readonly progress: number;
  readonly uploaded?: UploadedFile;
  readonly error?: unknown;
}

/** What is written and not yet sent. */
export interface Draft {
  readonly text: string;
  /** The people named in the text, by what it names them. */
  readonly mentions: ReadonlyMap<string, string>;
  readonly replyToId: string | undefined;
  readonly files: readonly DraftFile[];
}

/** What is written and not yet sent, by place: a channel, or a thread. */
export type Drafts = ReturnType<typeof createDrafts>;

const EMPTY: Draft = { text: '', mentions: new Map(), replyToId: undefined, files: [] };

export function createDrafts() {
  const drafts = new Map<string, Draft>();
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const of = (place: string) => drafts.get(place) ?? EMPTY;
  const change = (place: string, changed: Partial<Draft>) => {
    drafts.set(place, { ...of(place), ...changed });
    tell();
  };
  return {
    of,
    change,
    changeFile(place: string, id: string, changed: Partial<DraftFile>): void {
      change(place, { files: of(place).files.map((one) => (one.id === id ? { ...one, ...changed } : one)) });
    },
    clear(place: string): void {
      drafts.delete(place);
      tell();
    },
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** A place's draft, which outlives its composer. */
export function useDraft(drafts: Drafts, place: string): Draft {
  return useSyncExternalStore(drafts.subscribe, () => drafts.of(place));
}
