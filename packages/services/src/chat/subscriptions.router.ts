import { notGuest, router } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { identityErrors } from '../identities/identities.errors.js';
import { createRoute, deleteRoute, getRoute, listRoute, patchRoute } from '../shared/record-routes.js';
import type { ChatRules } from './chat-rules.js';
import { chatErrors as errors } from './chat.errors.js';
import { moderationErrors } from './moderation.errors.js';
import type { ModerationRules } from './moderation-rules.js';
import {
  SubscriptionSchema,
  createSubscriptionInput,
  subscriptionInput,
  subscriptionList,
  subscriptionPatchInput,
} from './subscriptions.schemas.js';
import type { SubscriptionsService } from './subscriptions.service.js';

const subscription = {
  one: 'subscription',
  many: 'subscriptions',
  output: SubscriptionSchema,
  list: subscriptionList,
  idInput: subscriptionInput,
  errors: { notFound: errors.subscriptionNotFound, nothingToUpdate: moderationErrors.noSubscriptionUpdate },
};

/** Routes for members of channels (decisions S4). */
export function createSubscriptionsRouter(subscriptions: SubscriptionsService, rules: ChatRules & ModerationRules) {
  return router({
    createSubscription: createRoute(subscription, 'POST /subscriptions', createSubscriptionInput, {
      summary: 'Add a member to a channel, or join an open one',
      made: subscriptions.made,
      errors: [
        errors.channelNotFound,
        identityErrors.notFound,
        errors.directMembers,
        errors.alreadySubscribed,
        moderationErrors.banned,
      ],
      allow: [notGuest, rules.addsMember],
    }).mutation(({ ctx, input }) => subscriptions.create(input, ctx.newId?.())),

    listSubscriptions: listRoute(subscription, 'GET /subscriptions', subscriptionList, {
      summary: 'List the members of a channel, or the memberships of an identity, newest first',
      allow: [rules.listsMembers],
    }).query(({ ctx, input }) => subscriptions.list(askedBy(ctx, input))),

    getSubscription: getRoute(subscription, 'GET /subscriptions/{subscriptionId}', {
      summary: 'Read a membership',
      allow: [rules.readsSubscription],
    }).query(({ input }) => subscriptions.get(input.subscriptionId, input)),

    patchSubscription: patchRoute(subscription, 'PATCH /subscriptions/{subscriptionId}', subscriptionPatchInput, {
      summary: 'Give a member a role, or mute it; moderators can mute ordinary members',
      allow: [notGuest, rules.notOwnSubscription, rules.changesSubscription],
    }).mutation(({ input: { subscriptionId, ...patch } }) => subscriptions.patch(subscriptionId, patch)),

    deleteSubscription: deleteRoute(subscription, 'DELETE /subscriptions/{subscriptionId}', {
      summary: 'Remove a member from a channel, or leave it',
      allow: [rules.leavesAsGuest, rules.managesSubscription],
    }).mutation(({ input }) => subscriptions.delete(input.subscriptionId)),
  });
}
