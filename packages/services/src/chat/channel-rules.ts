import { defineRule, owner, type ErrorDefinition, type Rule } from '@tandem/core';
import type { ChatService } from './chat.service.js';

/** Finds a channel's id by another. */
export type FindChannel = (id: string) => Promise<string | undefined>;
/** What a rule refuses with; first where there is no channel. */
type Refusals = readonly [ErrorDefinition & (() => Error), ...ErrorDefinition[]];
export type ChannelRules = ReturnType<typeof createChannelRules>;

/** What the rules of chat and those of moderation are made of. `channelIdOf` finds the channel for the input's `key`. */
export function createChannelRules({ channels, subscriptions }: ChatService) {
  const ownerOf = async (channelId: string) => (await channels.accessTo(channelId))?.ownerIds;
  const sameId: FindChannel = (channelId) => Promise.resolve(channelId);
  const channelOfSubscription: FindChannel = async (id) => (await subscriptions.endsOf(id))?.channelId;

  /** Requires the caller to own the channel. */
  function ownsChannelBy(key: string, channelIdOf: FindChannel): Rule {
    const ownerBy = async (id: string) => {
      const channelId = await channelIdOf(id);
      return channelId && ownerOf(channelId);
    };
    return owner(key, ownerBy, 'the owner of the channel');
  }

  /** Requires the caller to be somebody in the channel whom `expect` does not refuse. */
  function inChannelBy(
    key: string,
    channelIdOf: FindChannel,
    says: string,
    refusals: Refusals,
    expect: (identityId: string, channelId: string) => Promise<unknown>,
  ): Rule {
    return defineRule(says, refusals, async ({ ctx, valueOf }) => {
      const id = await valueOf(key);
      const channelId = id === undefined ? undefined : await channelIdOf(id);
      if (channelId === undefined) throw refusals[0]();
      await expect(ctx.identity.id, channelId);
    });
  }

  return { ownerOf, sameId, channelOfSubscription, ownsChannelBy, inChannelBy };
}
