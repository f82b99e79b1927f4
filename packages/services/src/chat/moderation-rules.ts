import { admin, anyOf, defineRule, ruleErrors, type Rule } from '@tandem/core';
import type { ChannelRules, FindChannel } from './channel-rules.js';
import type { ChatService } from './chat.service.js';

/** Somebody in a channel. */
interface Person {
  channelId: string;
  identityId: string;
}

/** Access rules of moderation (decisions C4). Roles are read from the store each time. */
export function createModerationRules(
  { memberships, messages, subscriptions, typeOf }: ChatService,
  { ownerOf, sameId, channelOfSubscription, ownsChannelBy, inChannelBy }: ChannelRules,
) {
  const isModerator = async (identityId: string, channelId: string) =>
    (await memberships.roleOf(identityId, channelId)) === 'moderator';

  /** The owner, moderators and admins of the channel that `channelIdOf` finds for the input's `key`. */
  function moderates(key: string, channelIdOf: FindChannel): Rule {
    const says = 'a moderator of the channel';
    const moderator = inChannelBy(key, channelIdOf, says, [ruleErrors.notAdmin], async (identityId, channelId) => {
      if (!(await isModerator(identityId, channelId))) throw ruleErrors.notAdmin();
    });
    return anyOf(admin, ownsChannelBy(key, channelIdOf), moderator);
  }

  /** A moderator, over anybody but the owner, admins and other moderators. */
  function moderatorOver(findPerson: (call: Parameters<Rule['before']>[0]) => Promise<Person | undefined>): Rule {
    return defineRule('a moderator, as to ordinary members', [ruleErrors.notAdmin], async (call) => {
      const { identity, server } = call.ctx;
      const person = await findPerson(call);
      if (!person || !(await isModerator(identity.id, person.channelId))) throw ruleErrors.notAdmin();
      const { channelId, identityId } = person;
      const [ownerIds = [], isOther, typeId] = await Promise.all([
        ownerOf(channelId),
        isModerator(identityId, channelId),
        typeOf(identityId),
      ]);
      if (ownerIds.includes(identityId) || isOther || typeId === server.typeIds.admin) throw ruleErrors.notAdmin();
    });
  }

  /** Of the message that the input names. */
  const moderatorOverSender = moderatorOver(async ({ valueOf }) => {
    const messageId = await valueOf('messageId');
    return messageId === undefined ? undefined : messages.personOf(messageId);
  });
  const moderatorOverGiven = moderatorOver(async ({ valueOf }) => {
    const [channelId, identityId] = [await valueOf('channelId'), await valueOf('identityId')];
    return channelId !== undefined && identityId !== undefined ? { channelId, identityId } : undefined;
  });
  /** Moderators mute; roles are given by the owner and admins. */
  const moderatorMutes = moderatorOver(async ({ valueOf, given }) => {
    const id = await valueOf('subscriptionId');
    const ends = id === undefined || (await given('role')) !== undefined ? undefined : await subscriptions.endsOf(id);
    return ends && { channelId: ends.channelId, identityId: ends.subscribedId };
  });

  return {
    moderatesChannel: moderates('channelId', sameId),
    /** For what owners, moderators and admins do with any message. */
    moderatesChannelOfMessage: moderates('messageId', messages.channelOf),
    moderatesChannelOfSubscription: moderates('subscriptionId', channelOfSubscription),
    moderatorOverSender,
    bansIdentity: anyOf(admin, ownsChannelBy('channelId', sameId), moderatorOverGiven),
    changesSubscription: anyOf(admin, ownsChannelBy('subscriptionId', channelOfSubscription), moderatorMutes),
    /** Nobody lifts or shortens its own ban, as one of the two owners of a direct channel could. */
    notOwnBan: defineRule('anybody but the banned identity', [ruleErrors.notAdmin], async ({ ctx, valueOf }) => {
      if ((await valueOf('identityId')) === ctx.identity.id) throw ruleErrors.notAdmin();
    }),
    /** Nobody gives itself a role, or takes back its own mute. */
    notOwnSubscription: defineRule('anybody but the subscribed identity', [ruleErrors.notAdmin], async ({ ctx, valueOf }) => {
      const id = await valueOf('subscriptionId');
      const ends = id === undefined ? undefined : await subscriptions.endsOf(id);
      if (ends?.subscribedId === ctx.identity.id) throw ruleErrors.notAdmin();
    }),
  };
}
export type ModerationRules = ReturnType<typeof createModerationRules>;
