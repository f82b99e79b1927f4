import { defineService } from '../shared/define-service.js';
import { categoryErrors } from './categories.errors.js';
import { createCategoriesRouter } from './categories.router.js';
import { categoryList } from './categories.schemas.js';

export const categories = defineService({
  name: 'categories',
  router: (services) => createCategoriesRouter(services.categories),
  lists: { list: categoryList },
  errors: { categories: categoryErrors },
});
