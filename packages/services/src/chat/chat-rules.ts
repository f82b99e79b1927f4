import { admin, anyOf, defineRule, notGuest, owner, ruleErrors, self, type Rule } from '@tandem/core';
import { Id } from '../shared/schemas.js';
import type { ChatService } from './chat.service.js';
import { chatErrors as errors } from './chat.errors.js';
import { moderationErrors } from './moderation.errors.js';
import { createModerationRules } from './moderation-rules.js';

/** Access rules for channels (decisions S4, A17). */
export function createChatRules(chat: ChatService) {
  const { channels, memberships, messages, subscriptions } = chat;
  const moderation = createModerationRules(chat);
  const ownerOf = async (channelId: string) => (await channels.accessTo(channelId))?.ownerIds;

  /** Requires the caller to be a member of the channel that `channelIdOf` finds for the input's `key`. */
  function memberBy(key: string, channelIdOf: (id: string) => Promise<string | undefined>): Rule {
    return defineRule('a member of the channel', [errors.notSubscribed], async ({ ctx, valueOf }) => {
      const id = await valueOf(key);
      const channelId = id === undefined ? undefined : await channelIdOf(id);
      if (channelId === undefined) throw errors.notSubscribed();
      await memberships.subscriptionOf(ctx.identity.id, channelId);
    });
  }

  /** Requires the caller to own the channel that `channelIdOf` finds for the input's `key`. */
  function ownsChannelBy(key: string, channelIdOf: (id: string) => Promise<string | undefined>): Rule {
    const ownerBy = async (id: string) => {
      const channelId = await channelIdOf(id);
      return channelId === undefined ? undefined : ownerOf(channelId);
    };
    return owner(key, ownerBy, 'the owner of the channel');
  }

  /** The same, who is not muted. For all that others see. */
  function speakerBy(key: string, channelIdOf: (id: string) => Promise<string | undefined>): Rule {
    const refusals = [errors.notSubscribed, moderationErrors.muted];
    return defineRule('a member of the channel who is not muted', refusals, async ({ ctx, valueOf }) => {
      const id = await valueOf(key);
      const channelId = id === undefined ? undefined : await channelIdOf(id);
      if (channelId === undefined) throw errors.notSubscribed();
      await memberships.expectSpeaker(ctx.identity.id, channelId);
    });
  }

  const ownsChannel = owner('channelId', ownerOf);
  const member = memberBy('channelId', (channelId) => Promise.resolve(channelId));
  const memberOfMessage = memberBy('messageId', messages.channelOf);
  /** Of a deleted one too, which is then not found. */
  const memberOfAnyMessage = memberBy('messageId', messages.channelOfAny);
  const sender = owner('messageId', messages.senderOf, 'the sender of the message');

  /** Any identity may add itself, and only itself, to an open channel. */
  const joinsOpen = defineRule('an identity that joins an open channel', [ruleErrors.notSelf], async ({ ctx, valueOf }) => {
    const channelId = await valueOf('channelId');
    const isOpen = channelId !== undefined && (await channels.accessTo(channelId))?.open === true;
    if (!isOpen || (await valueOf('subscribedId')) !== ctx.identity.id) throw ruleErrors.notSelf();
  });

  /** Callers may list the channels they are members of, or those they own. */
  const listsOwn = defineRule('a caller that asks for its own channels', [ruleErrors.notSelf], async ({ ctx, given }) => {
    const memberId = await given('memberId');
    if ((memberId === undefined ? await given('ownerId') : memberId) !== ctx.identity.id) throw ruleErrors.notSelf();
  });

  /** Without a channel, callers may search those they are members of. */
  const searchesOwn = defineRule('a caller that searches its own channels', [errors.notSubscribed], async ({ given }) => {
    if ((await given('channelId')) !== undefined || (await given('$search')) === undefined) throw errors.notSubscribed();
  });

  const subscriberOf = async (id: string) => (await subscriptions.endsOf(id))?.subscribedId;
  const channelOf = async (id: string) => (await subscriptions.endsOf(id))?.channelId;
  const ownSubscription = owner('subscriptionId', subscriberOf, 'the subscribed identity');

  const managesSubscription = anyOf(admin, ownSubscription, ownsChannelBy('subscriptionId', channelOf));

  return {
    ...moderation,

    /** Runs before the other rules. A malformed id is left to input validation. */
    channelExists: defineRule('a caller that names an existing channel', [errors.channelDoesNotExist], async ({ valueOf }) => {
      const channelId = Id.safeParse(await valueOf('channelId')).data;
      if (channelId !== undefined && !(await channels.exists(channelId))) throw errors.channelDoesNotExist();
    }),
    member,
    listsMessages: anyOf(member, searchesOwn),
    listsOwnChannels: anyOf(admin, listsOwn),
    readsChannel: anyOf(admin, ownsChannel, member),
    managesChannel: anyOf(admin, ownsChannel),

    addsMember: anyOf(admin, ownsChannel, joinsOpen),
    listsMembers: anyOf(admin, member, ownsChannel, self('subscribedId')),
    managesSubscription,
    /** Moderators, to know the version that they change. */
    readsSubscription: anyOf(managesSubscription, moderation.moderatesChannelOfSubscription),

    /** Guests may write nowhere, but they may leave. */
    leavesAsGuest: anyOf(notGuest, ownSubscription),

    sender,
    memberOfMessage,
    memberOfAnyMessage,
    speaker: speakerBy('channelId', (channelId) => Promise.resolve(channelId)),
    speakerOfMessage: speakerBy('messageId', messages.channelOf),
    readsMessage: anyOf(admin, memberOfMessage),
    deletesMessage: anyOf(admin, sender, ownsChannelBy('messageId', messages.channelOf), moderation.moderatorOverSender),
    removesAttachment: anyOf(admin, sender),
  };
}
export type ChatRules = ReturnType<typeof createChatRules>;
