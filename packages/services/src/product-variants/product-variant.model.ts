import { listIndexes } from '@tandem/lists';
import { defineModel, type BulkRecord } from '@tandem/storage';
import type { StoredHostFields } from '../shared/host-fields.js';
import type { Metadata } from '../shared/metadata.js';
import type { StoredPrice } from '../shared/price.js';
import type { StoredFields } from '../shared/record.js';
import { productVariantRecord } from './product-variants.schemas.js';

export interface ProductVariantRecord extends BulkRecord, StoredFields<typeof productVariantRecord> {
  productId: string;
  price?: StoredPrice | null;
  metadata?: Metadata;
  hostFields?: StoredHostFields | null;
}

export const productVariantModel = defineModel<ProductVariantRecord>('productVariants', {
  traced: { kind: 'productVariant', organization: { through: 'products', by: 'productId' } },
  fields: productVariantRecord.stored,
  searched: productVariantRecord.resource.searched,
  cascades: [{ with: 'products', by: 'productId' }],
  indexes: [
    ...listIndexes(productVariantRecord.resource, { within: ['productId'] }),
    {
      keys: { productId: 1, deletionId: 1 },
      deletedToo: true,
      replaces: 'productId_1_deletionId_1_where_deletionId',
      serves: 'the variants that come back, or go for good, with their product',
    },
  ],
});
