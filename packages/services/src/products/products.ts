import { mergeRouters } from '@tandem/core';
import { createLikersRouter } from '../profiles/likes.router.js';
import { productLikerList } from '../profiles/likes.schemas.js';
import { defineService } from '../shared/define-service.js';
import { createProductImagesRouter } from './product-images.router.js';
import { createProductRules } from './product-rules.js';
import { productErrors } from './products.errors.js';
import { createProductsRouter } from './products.router.js';
import { organizationProductList, productList } from './products.schemas.js';

export const products = defineService({
  name: 'products',
  router: ({ products: service, productImages, likes, organizations: { roleOf } }) => {
    const rules = createProductRules({ products: service, roleOf });
    return mergeRouters(
      createProductsRouter({ products: service, rules, roleOf }),
      createProductImagesRouter({ productImages, rules }),
      createLikersRouter(likes),
    );
  },
  lists: { list: productList, listLikers: productLikerList, listOfOrganization: organizationProductList },
  errors: { products: productErrors },
});
