import { variants } from '../products/product-parts.js';
import { createProductRules } from '../products/product-rules.js';
import { products } from '../products/products.js';
import { defineService } from '../shared/define-service.js';
import { productVariantErrors } from './product-variants.errors.js';
import { createProductVariantsRouter } from './product-variants.router.js';
import { productVariantList } from './product-variants.schemas.js';

export const productVariants = defineService({
  name: 'productVariants',
  description: 'Variants of a product, each with its own price and images.',
  needs: [products, variants],
  router: ({ products: ofVariants, organizations: { rolesOf }, productVariants: service }) =>
    createProductVariantsRouter({ variants: service, rules: createProductRules({ products: ofVariants, rolesOf }) }),
  lists: { list: productVariantList },
  tells: ['productVariant'],
  errors: { 'product variants': productVariantErrors },
});
