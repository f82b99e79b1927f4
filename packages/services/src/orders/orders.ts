import { defineService } from '../shared/define-service.js';
import { orderErrors } from './orders.errors.js';
import { createOrdersRouter } from './orders.router.js';
import { orderList, organizationOrderList } from './orders.schemas.js';

export const orders = defineService({
  name: 'orders',
  router: createOrdersRouter,
  lists: { list: orderList, listOfOrganization: organizationOrderList },
  errors: { orders: orderErrors },
});
