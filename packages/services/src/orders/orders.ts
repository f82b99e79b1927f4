import { products } from '../products/products.js';
import { defineService } from '../shared/define-service.js';
import { orderErrors } from './orders.errors.js';
import { createOrdersRouter } from './orders.router.js';
import { orderList, organizationOrderList } from './orders.schemas.js';
import { createOrdersService } from './orders.service.js';

export const orders = defineService({
  name: 'orders',
  description: 'Orders of products, with amounts that the server computes.',
  needs: [products],
  create: (all) => ({ orders: createOrdersService({ ...all, priceOf: all.products.priceOf }) }),
  router: createOrdersRouter,
  lists: { list: orderList, listOfOrganization: organizationOrderList },
  tells: ['order'],
  errors: { orders: orderErrors },
});
