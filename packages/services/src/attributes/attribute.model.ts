import { listIndexes } from '@tandem/lists';
import { defineModel, type Live } from '@tandem/storage';
import { attributeResource } from './attributes.schemas.js';

export interface AttributeItem {
  key: string;
  value: string;
}

/** A named group of key-value attributes. */
export interface AttributeRecord extends Live {
  name: string;
  items: AttributeItem[];
}

export const attributeModel = defineModel<AttributeRecord>('attributes', {
  fields: {
    name: { type: String, required: true },
    items: { type: [{ key: String, value: String, _id: false }], default: [] },
  },
  indexes: listIndexes(attributeResource),
});
