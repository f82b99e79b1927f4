import { defineErrors } from '@tandem/core';

/** The errors of message templates. Core declares those of its rules. */
export const messageTemplateErrors = defineErrors('messageTemplates', {
  notFound: [404, 'Chat message template not found'],
  /** For change, delete and restore. */
  notFoundToChange: [404, 'Message template not found'],
  nothingToUpdate: [400, 'Failed to update message template'],
});
