import { defineErrors } from '@tandem/core';

/** The errors of the service, with the texts of the decisions. */
export const eventErrors = defineErrors('events', {
  gone: [410, 'Events are no longer kept'],
});
