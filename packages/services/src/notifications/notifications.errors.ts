import { defineErrors } from '@tandem/core';

/** Every failure of the service beside those of its rules, once: status and the spec's exact words. */
export const notificationErrors = defineErrors('notifications', {
  notFound: [404, 'Notification not found'],
});
