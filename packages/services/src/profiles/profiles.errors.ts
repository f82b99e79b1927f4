import { defineErrors } from '@tandem/core';

/** The errors of the service, with the spec's exact texts. Core declares those of its rules. */
export const profileErrors = defineErrors('profiles', {
  notFound: [404, 'Profile not found'],
  nothingToUpdate: [400, 'Failed to update profile'],
  profileFollowed: [409, 'Profile is already followed'],
  profileNotFollowed: [404, 'Profile follow not found'],
  organizationFollowed: [409, 'Organization is already followed'],
  organizationNotFollowed: [404, 'Organization follow not found'],
  productLiked: [409, 'Product is already liked'],
  productNotLiked: [404, 'Product like not found'],
});
