/** Order states (decisions R6). */
export const ORDER_STATUSES = ['pending', 'confirmed', 'shipped', 'delivered', 'cancelled'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/**
 * The states from which each state can be reached: `pending → confirmed → shipped → delivered`, and `pending|confirmed →
 * cancelled`.
 */
export const LEADING_TO: Readonly<Record<OrderStatus, readonly OrderStatus[]>> = {
  pending: [],
  confirmed: ['pending'],
  shipped: ['confirmed'],
  delivered: ['shipped'],
  cancelled: ['pending', 'confirmed'],
};
