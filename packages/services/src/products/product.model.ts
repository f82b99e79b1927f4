import { listIndexes } from '@tandem/lists';
import { bulkFields, defineModel, type BulkRecord } from '@tandem/storage';
import { priceField, type StoredPrice } from '../shared/price.js';
import { productResource } from './products.schemas.js';

/** Optional fields are those that a host may leave out. */
export interface ProductRecord extends BulkRecord {
  name: string;
  description: string;
  /** Null if only its variants have prices, or none was set. */
  price?: StoredPrice | null;
  /** The owning organization; null if only admins manage the product. */
  organizationId?: string | null;
  categoryIds?: string[];
  attributeIds?: string[];
}

export const productModel = defineModel<ProductRecord>('products', {
  fields: {
    name: { type: String, required: true },
    description: { type: String, default: '' },
    price: priceField,
    organizationId: { type: String, default: null },
    categoryIds: { type: [String], default: [] },
    attributeIds: { type: [String], default: [] },
    ...bulkFields,
  },
  cascades: [{ with: 'organizations', by: 'organizationId', moves: true }],
  indexes: [
    ...listIndexes(productResource, { by: ['organizationId'] }),
    {
      keys: { deletionId: 1 },
      where: { deletionId: { $type: 'string' } },
      deletedToo: true,
      serves: 'the products that a deletion of their organization has taken',
    },
  ],
});
