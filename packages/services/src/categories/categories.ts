import { defineService } from '../shared/define-service.js';
import { categoryErrors } from './categories.errors.js';
import { createCategoriesRouter } from './categories.router.js';
import { categoryList } from './categories.schemas.js';
import { createCategoriesService } from './categories.service.js';

export const categories = defineService({
  name: 'categories',
  description: 'The tree of product categories.',
  create: (all) => ({ categories: createCategoriesService(all) }),
  router: ({ categories: service }) => createCategoriesRouter(service),
  lists: { list: categoryList },
  tells: ['category'],
  errors: { categories: categoryErrors },
});
