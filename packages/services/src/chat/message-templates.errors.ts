import { defineErrors } from '@tandem/core';

/** Every failure of message templates beside those of core's rules, once. */
export const messageTemplateErrors = defineErrors('messageTemplates', {
  notFound: [404, 'Chat message template not found'],
  /** Of one that is to be changed, deleted or restored. */
  notFoundToChange: [404, 'Message template not found'],
  nothingToUpdate: [400, 'Failed to update message template'],
});
