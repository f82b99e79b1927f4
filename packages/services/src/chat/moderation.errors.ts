import { defineErrors } from '@tandem/core';

/** The errors of moderation (decisions C4). Core declares those of its rules. */
export const moderationErrors = defineErrors('moderation', {
  muted: [403, 'Identity is muted in the channel'],
  banned: [403, 'Identity is banned from the channel'],
  noSubscriptionUpdate: [400, 'Failed to update subscription'],
  banNotFound: [404, 'Ban not found'],
  reportNotFound: [404, 'Report not found'],
  noReportUpdate: [400, 'Failed to update report'],
  alreadyReported: [409, 'Identity has already reported the message'],
});
