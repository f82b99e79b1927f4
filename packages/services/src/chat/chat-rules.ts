import { admin, anyOf, defineRule, notGuest, owner, ruleErrors, self } from '@tandem/core';
import { Id } from '../shared/schemas.js';
import { createChannelRules, type FindChannel } from './channel-rules.js';
import type { ChatService } from './chat.service.js';
import { chatErrors as errors } from './chat.errors.js';
import { moderationErrors } from './moderation.errors.js';
import { createModerationRules } from './moderation-rules.js';

/** Access rules for channels (decisions S4, A17). */
export function createChatRules(chat: ChatService) {
  const { channels, memberships, messages, subscriptions } = chat;
  const channelRules = createChannelRules(chat);
  const { sameId, channelOfSubscription, ownsChannelBy, inChannelBy } = channelRules;
  const moderation = createModerationRules(chat, channelRules);
  const memberBy = (key: string, channelIdOf: FindChannel) =>
    inChannelBy(key, channelIdOf, 'a member of the channel', [errors.notSubscribed], memberships.subscriptionOf);
  /** The same, who is not muted. For all that others see. */
  const speakerBy = (key: string, channelIdOf: FindChannel) => {
    const refusals = [errors.notSubscribed, moderationErrors.muted] as const;
    return inChannelBy(key, channelIdOf, 'a member of the channel who is not muted', refusals, memberships.expectSpeaker);
  };

  const ownsChannel = ownsChannelBy('channelId', sameId);
  const member = memberBy('channelId', sameId);
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
  const ownSubscription = owner('subscriptionId', subscriberOf, 'the subscribed identity');

  const managesSubscription = anyOf(admin, ownSubscription, ownsChannelBy('subscriptionId', channelOfSubscription));

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
    speaker: speakerBy('channelId', sameId),
    speakerOfMessage: speakerBy('messageId', messages.channelOf),
    readsMessage: anyOf(admin, memberOfMessage),
    deletesMessage: anyOf(admin, sender, ownsChannelBy('messageId', messages.channelOf), moderation.moderatorOverSender),
    removesAttachment: anyOf(admin, sender),
  };
}
export type ChatRules = ReturnType<typeof createChatRules>;
