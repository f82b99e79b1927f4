import type { Storage } from '@tandem/storage';
import { productModel } from './product.model.js';

/** What services that products are built on need to know about products. */
export function createProductLookups(storage: Storage) {
  const Products = storage.model(productModel);
  return {
    /** Whether a live product has this id. */
    productExists: async (productId: string): Promise<boolean> => (await Products.exists({ _id: productId })) !== null,
  };
}
