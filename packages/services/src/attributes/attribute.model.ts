import { listIndexes } from '@tandem/lists';
import { defineModel, type Live } from '@tandem/storage';
import type { StoredFields } from '../shared/record.js';
import { attributeRecord } from './attributes.schemas.js';

/** A named group of key-value attributes. */
export interface AttributeRecord extends Live, StoredFields<typeof attributeRecord> {}

export const attributeModel = defineModel<AttributeRecord>('attributes', {
  traced: { kind: 'attribute' },
  fields: attributeRecord.stored,
  searched: attributeRecord.resource.searched,
  indexes: listIndexes(attributeRecord.resource),
});
