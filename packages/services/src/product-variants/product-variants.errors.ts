import { defineErrors } from '@tandem/core';

/** The errors of the service, with the spec's exact texts. Core declares those of its rules. */
export const productVariantErrors = defineErrors('productVariants', {
  notFound: [404, 'Product variant not found'],
  manyNotFound: [404, 'Product variants not found'],
  manyTooLarge: [413, 'Product variants are too large to be written together'],
  nothingToUpdate: [400, 'Failed to update product variant'],
  nothingToUpdateInMany: [400, 'Failed to update product variants'],
});
