import { defineErrors } from '@tandem/core';

/** Every failure of the service beside those of core's rules, once: status and the spec's exact words. */
export const chatErrors = defineErrors('chat', {
  /** Of the routes that are guarded by existence (spec, "Errors", rule 3; decisions A17). */
  channelDoesNotExist: [404, 'Channel does not exist'],
  channelNotFound: [404, 'Channel not found'],
  noChannelUpdate: [400, 'Failed to update channel'],
  notSubscribed: [403, 'Identity is not subscribed to the channel'],
  alreadySubscribed: [409, 'Identity is already subscribed'],
  subscriptionNotFound: [404, 'Subscription not found'],
  /** With or without a full stop, depending on the route (spec, "Status codes and messages"). */
  messageNotFound: [404, 'Chat message not found'],
  messageNotFoundStop: [404, 'Chat message not found.'],
  noMessageUpdate: [400, 'Failed to update chat message'],
  attachmentNotFound: [404, 'Chat message attachment not found.'],
  lastReadMessageNotFound: [404, 'The last read message not found'],
});
