import { defineErrors } from '@tandem/core';

/** The errors of the service, with their exact texts (decisions R5, R6). Core declares those of its rules. */
export const orderErrors = defineErrors('orders', {
  notFound: [404, 'Order not found'],
  nothingToUpdate: [400, 'Failed to update order'],
  cannotMove: [409, 'Order cannot move from {from} to {to}'],
});
