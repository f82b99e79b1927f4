import { defineErrors } from '@tandem/core';

export const {{one}}Errors = defineErrors('{{many}}', {
  notFound: [404, '{{Words}} not found'],
});
