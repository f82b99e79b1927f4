import { authenticatedRoute, notGuest, router } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { identityErrors } from '../identities/identities.errors.js';
import type { ChatRules } from './chat-rules.js';
import { chatErrors as errors } from './chat.errors.js';
import { SubscriptionSchema, createSubscriptionInput, subscriptionInput, subscriptionList } from './subscriptions.schemas.js';
import type { SubscriptionsService } from './subscriptions.service.js';

/** Routes for members of channels (decisions S4). */
export function createSubscriptionsRouter(subscriptions: SubscriptionsService, rules: ChatRules) {
  return router({
    createSubscription: authenticatedRoute('POST /subscriptions', {
      status: 201,
      summary: 'Add a member to a channel, or join an open one',
      failure: 'Failed to create subscription',
      errors: [errors.channelNotFound, identityErrors.notFound, errors.alreadySubscribed],
      allow: [notGuest, rules.addsMember],
    })
      .input(createSubscriptionInput)
      .output(SubscriptionSchema)
      .mutation(({ input }) => subscriptions.create(input)),

    listSubscriptions: authenticatedRoute('GET /subscriptions', {
      summary: 'List the members of a channel, or the memberships of an identity, newest first',
      failure: 'Failed to find subscriptions',
      errors: [listErrors.invalidNextToken],
      allow: [rules.listsMembers],
    })
      .input(subscriptionList.input)
      .output(subscriptionList.output)
      .query(({ ctx, input }) => subscriptions.list(askedBy(ctx, input))),

    getSubscription: authenticatedRoute('GET /subscriptions/{subscriptionId}', {
      summary: 'Read a membership',
      failure: 'Failed to get subscription',
      errors: [errors.subscriptionNotFound],
      allow: [rules.managesSubscription],
    })
      .input(subscriptionInput)
      .output(SubscriptionSchema)
      .query(({ input }) => subscriptions.get(input.subscriptionId)),

    deleteSubscription: authenticatedRoute('DELETE /subscriptions/{subscriptionId}', {
      status: 204,
      summary: 'Remove a member from a channel, or leave it',
      failure: 'Failed to delete subscription',
      errors: [errors.subscriptionNotFound],
      allow: [rules.leavesAsGuest, rules.managesSubscription],
    })
      .input(subscriptionInput)
      .mutation(({ input }) => subscriptions.delete(input.subscriptionId)),
  });
}
