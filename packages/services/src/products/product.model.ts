import { listIndexes } from '@tandem/lists';
import { defineModel, type BulkRecord } from '@tandem/storage';
import type { StoredHostFields } from '../shared/host-fields.js';
import type { Metadata } from '../shared/metadata.js';
import type { StoredPrice } from '../shared/price.js';
import type { StoredFields } from '../shared/record.js';
import { productRecord } from './products.schemas.js';

export interface ProductRecord extends BulkRecord, StoredFields<typeof productRecord> {
  price?: StoredPrice | null;
  metadata?: Metadata;
  /** Those that a host declares. */
  hostFields?: StoredHostFields | null;
}

export const productModel = defineModel<ProductRecord>('products', {
  traced: { kind: 'product', organization: 'organizationId' },
  files: ['product-image'],
  fields: productRecord.stored,
  searched: productRecord.resource.searched,
  cascades: [{ with: 'organizations', by: 'organizationId', moves: true }],
  indexes: [
    ...listIndexes(productRecord.resource, { by: ['organizationId'] }),
    { keys: { organizationId: 1 }, deletedToo: true, serves: 'what goes for good with an organization' },
    {
      keys: { deletionId: 1 },
      where: { deletionId: { $type: 'string' } },
      deletedToo: true,
      serves: 'the products that a deletion of their organization has taken',
    },
  ],
});
