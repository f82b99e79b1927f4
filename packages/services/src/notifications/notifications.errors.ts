import { defineErrors } from '@tandem/core';

/** The errors of the service, with the spec's exact texts. Core declares those of its rules. */
export const notificationErrors = defineErrors('notifications', {
  notFound: [404, 'Notification not found'],
});
