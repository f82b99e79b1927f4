import { listIndexes } from '@tandem/lists';
import { bulkFields, defineModel, type BulkRecord } from '@tandem/storage';
import { priceField, type StoredPrice } from '../shared/price.js';
import { productVariantResource } from './product-variants.schemas.js';

/** Optional fields are those that a host may leave out. */
export interface ProductVariantRecord extends BulkRecord {
  productId: string;
  title: string;
  description?: string | null;
  sku?: string | null;
  imageIds?: string[];
  /** Takes precedence over the product's price (decisions R5). */
  price?: StoredPrice | null;
}

export const productVariantModel = defineModel<ProductVariantRecord>('productVariants', {
  fields: {
    productId: { type: String, required: true },
    title: { type: String, required: true },
    description: { type: String, default: null },
    sku: { type: String, default: null },
    imageIds: { type: [String], default: [] },
    price: priceField,
    ...bulkFields,
  },
  cascades: [{ with: 'products', by: 'productId' }],
  indexes: [
    ...listIndexes(productVariantResource, { within: ['productId'] }),
    {
      keys: { productId: 1, deletionId: 1 },
      where: { deletionId: { $type: 'string' } },
      deletedToo: true,
      serves: 'the variants that come back with their product',
    },
  ],
});
