import { defineErrors } from '@tandem/core';

/** Every failure of the service beside those of its rules, once: status and the spec's exact words. */
export const productVariantErrors = defineErrors('productVariants', {
  notFound: [404, 'Product variant not found'],
  manyNotFound: [404, 'Product variants not found'],
  nothingToUpdate: [400, 'Failed to update product variant'],
  nothingToUpdateInMany: [400, 'Failed to update product variants'],
});
