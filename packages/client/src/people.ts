import type { TandemClient } from './client.js';
import type { RouterOutputs } from './router-types.js';

/** A person's name and picture. */
export type Person = RouterOutputs['people']['get'];

/** Most people in one request. */
const IDS_MAX = 100;
/** Most cards that are kept. */
const KEPT_MAX = 1000;
/** How long a card is kept by default, in milliseconds: shorter than the address of its picture is valid. */
const KEEP_MS = 5 * 60_000;

export interface People {
  /**
   * A person's card; null for one whom the caller may not see. People who are asked for in one tick share a request, and
   * whoever was asked for a short time ago needs none. Fails as the request does; the next call asks again.
   */
  get(identityId: string): Promise<Person | null>;
  /** Forgets one card or all: after a change of a profile, or another sign-in. */
  forget(identityId?: string): void;
}

interface Kept {
  card: Promise<Person | null>;
  until: number;
}
interface Asked extends Pick<Kept, 'card'> {
  resolve(card: Person | null): void;
  reject(error: unknown): void;
}

/** Names and pictures of people, for screens that show many. */
export function createPeople({ api }: Pick<TandemClient, 'api'>, { keepMs = KEEP_MS }: { keepMs?: number } = {}): People {
  const kept = new Map<string, Kept>();
  let asking: Map<string, Asked> | undefined;

  function ask(): void {
    const waiting = [...(asking ?? [])];
    asking = undefined;
    for (let at = 0; at < waiting.length; at += IDS_MAX) {
      const part = waiting.slice(at, at + IDS_MAX);
      void api.people.list.query({ ids: part.map(([id]) => id) }).then(
        ({ data }) => {
          const cards = new Map(data.map((card) => [card.id, card]));
          for (const [id, { resolve }] of part) resolve(cards.get(id) ?? null);
        },
        (error: unknown) => {
          for (const [, { reject }] of part) reject(error);
        },
      );
    }
  }

  function request(identityId: string): Promise<Person | null> {
    if (!asking) {
      asking = new Map();
      setTimeout(ask);
    }
    // forgotten before it was asked for
    const asked = asking.get(identityId);
    if (asked) return asked.card;
    let settle!: Omit<Asked, 'card'>;
    const card = new Promise<Person | null>((resolve, reject) => (settle = { resolve, reject }));
    asking.set(identityId, { card, ...settle });
    return card;
  }

  return {
    get(identityId) {
      const known = kept.get(identityId);
      if (known && known.until > Date.now()) return known.card;
      const card = request(identityId);
      kept.delete(identityId);
      kept.set(identityId, { card, until: Date.now() + keepMs });
      card.catch(() => kept.get(identityId)?.card === card && kept.delete(identityId));
      const [oldest] = kept.keys();
      if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
      return card;
    },
    forget(identityId) {
      if (identityId === undefined) kept.clear();
      else kept.delete(identityId);
    },
  };
}
