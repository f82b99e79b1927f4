import { TandemError, type ChatMessage, type Reaction } from '@tandem/client';
import { createStore } from './store.js';

/** A reaction of one's own that the server has not answered yet. */
export interface WantedReaction {
  readonly channelId: string;
  readonly messageId: string;
  readonly key: string;
  readonly isWanted: boolean;
}

/** The reactions to a message with or without one's own. */
export function withOwn(reactions: Reaction[], { key, isWanted }: Pick<WantedReaction, 'key' | 'isWanted'>): Reaction[] {
  const known = reactions.find((one) => one.key === key);
  if (isWanted === (known?.mine ?? false)) return reactions;
  const own = { key, count: (known?.count ?? 0) + (isWanted ? 1 : -1), mine: isWanted };
  if (!known) return [...reactions, own];
  return reactions.flatMap((one) => (one === known ? (own.count > 0 ? own : []) : one));
}

/** Messages with what one wants to react with. */
export function withWanted(messages: readonly ChatMessage[], wanted: readonly WantedReaction[]): readonly ChatMessage[] {
  if (wanted.length === 0) return messages;
  return messages.map((message) => {
    const own = wanted.filter(({ messageId }) => messageId === message.id);
    return own.length === 0 ? message : { ...message, reactions: own.reduce(withOwn, message.reactions) };
  });
}

/**
 * Shows one's own reactions before the server has answered, and no longer when it refuses them.
 * @param send tells the server
 */
export function createReactions(send: (reaction: WantedReaction) => Promise<void>) {
  const wanted = createStore<readonly WantedReaction[]>([]);
  const refused = createStore<{ channelId: string; error: TandemError } | undefined>(undefined);
  const isSame = (one: WantedReaction, other: WantedReaction) => one.messageId === other.messageId && one.key === other.key;
  const others = (own: WantedReaction) => wanted.get().filter((one) => !isSame(one, own));

  return {
    wanted,
    /** Why the last one was refused, until the next. */
    refused,
    /** Shows it, and sends it, one after the other of a message and key. */
    async want(own: WantedReaction): Promise<void> {
      refused.set(undefined);
      const isUnderWay = wanted.get().some((one) => isSame(one, own));
      wanted.set([...others(own), own]);
      if (isUnderWay) return;
      try {
        let sent: WantedReaction | undefined;
        for (let next = own; next.isWanted !== sent?.isWanted; next = wanted.get().find((one) => isSame(one, own)) ?? next) {
          sent = next;
          await send(next);
        }
      } catch (error) {
        refused.set({ channelId: own.channelId, error: new TandemError(error) });
      } finally {
        wanted.set(others(own));
      }
    },
  };
}
