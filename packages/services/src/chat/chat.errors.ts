import { defineErrors } from '@tandem/core';

/** The errors of the service, with the spec's exact texts. Core declares those of its rules. */
export const chatErrors = defineErrors('chat', {
  /** For the routes guarded by existence (spec, "Errors", rule 3; decisions A17). */
  channelDoesNotExist: [404, 'Channel does not exist'],
  channelNotFound: [404, 'Channel not found'],
  noChannelUpdate: [400, 'Failed to update channel'],
  notSubscribed: [403, 'Identity is not subscribed to the channel'],
  directMembers: [403, 'A direct channel has two members'],
  alreadySubscribed: [409, 'Identity is already subscribed'],
  subscriptionNotFound: [404, 'Subscription not found'],
  /** The full stop depends on the route (spec, "Status codes and messages"). */
  messageNotFound: [404, 'Chat message not found'],
  messageNotFoundStop: [404, 'Chat message not found.'],
  noMessageUpdate: [400, 'Failed to update chat message'],
  tooManyReactions: [409, 'A message has 20 reactions at most'],
  tooManyReacting: [409, 'There must NOT be more than {max} people with one reaction to a message'],
  tooManyPins: [409, 'There must NOT be more than {max} pinned messages in the channel'],
  attachmentNotFound: [404, 'Chat message attachment not found.'],
  lastReadMessageNotFound: [404, 'The last read message not found'],
});
