import { mergeRouters } from '@tandem/core';
import { attributes } from '../attributes/attributes.js';
import { categories } from '../categories/categories.js';
import { createLikersRouter } from '../profiles/likes.router.js';
import { productLikerList } from '../profiles/likes.schemas.js';
import { likes } from '../profiles/profile-parts.js';
import { defineService } from '../shared/define-service.js';
import { createPriceLines } from './price-lines.js';
import { createProductImagesRouter } from './product-images.router.js';
import { images, productImages, variants } from './product-parts.js';
import { createProductRules } from './product-rules.js';
import { productErrors } from './products.errors.js';
import { createProductsRouter } from './products.router.js';
import { organizationProductList, productList } from './products.schemas.js';
import { createProductsService } from './products.service.js';

export const products = defineService({
  name: 'products',
  description: 'The catalogue, with prices, categories and images.',
  needs: [attributes, categories, images, likes, productImages, variants],
  create(all) {
    const service = createProductsService(all);
    return { products: { ...service, priceOf: createPriceLines(service, all.productVariants) } };
  },
  router: ({ products: service, productImages: imagesOf, likes: liked, organizations: { roleOf, rolesOf } }) => {
    const rules = createProductRules({ products: service, rolesOf });
    return mergeRouters(
      createProductsRouter({ products: service, rules, roleOf }),
      createProductImagesRouter({ productImages: imagesOf, rules }),
      createLikersRouter(liked),
    );
  },
  lists: { list: productList, listLikers: productLikerList, listOfOrganization: organizationProductList },
  tells: ['product'],
  errors: { products: productErrors },
});
