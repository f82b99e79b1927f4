import { defineErrors } from '@tandem/core';

/** Every failure of the service beside those of its rules, once: status and exact words (decisions R5, R6). */
export const orderErrors = defineErrors('orders', {
  notFound: [404, 'Order not found'],
  nothingToUpdate: [400, 'Failed to update order'],
  cannotMove: [409, 'Order cannot move from {from} to {to}'],
  keyReused: [422, 'Idempotency-Key was used with another body'],
});
