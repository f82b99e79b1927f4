import { createProductRules } from '../products/product-rules.js';
import { defineService } from '../shared/define-service.js';
import { productVariantErrors } from './product-variants.errors.js';
import { createProductVariantsRouter } from './product-variants.router.js';
import { productVariantList } from './product-variants.schemas.js';

export const productVariants = defineService({
  name: 'productVariants',
  router: ({ products, organizations, productVariants: variants }) =>
    createProductVariantsRouter({ variants, rules: createProductRules({ products, roleOf: organizations.roleOf }) }),
  lists: { list: productVariantList },
  errors: { 'product variants': productVariantErrors },
});
