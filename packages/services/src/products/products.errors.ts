import { defineErrors } from '@tandem/core';

/** Every failure of the service beside those of its rules, once: status and the spec's exact words. */
export const productErrors = defineErrors('products', {
  notFound: [404, 'Product not found'],
  manyNotFound: [404, 'Products not found'],
  imageNotFound: [404, 'Product image not found'],
  nothingToUpdate: [400, 'Failed to update product'],
  nothingToUpdateInMany: [400, 'Failed to update products'],
});
