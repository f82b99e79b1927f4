import { defineErrors } from '@tandem/core';

/** The errors of the service, with the spec's exact texts. Core declares those of its rules. */
export const productErrors = defineErrors('products', {
  notFound: [404, 'Product not found'],
  manyNotFound: [404, 'Products not found'],
  manyTooLarge: [413, 'Products are too large to be written together'],
  imageNotFound: [404, 'Product image not found'],
  nothingToUpdate: [400, 'Failed to update product'],
  nothingToUpdateInMany: [400, 'Failed to update products'],
});
