import { defineModel, type Live } from '@tandem/storage';

export interface AttributeItem {
  key: string;
  value: string;
}

/** A group of attributes: a name, and keys with their values. */
export interface AttributeRecord extends Live {
  name: string;
  items: AttributeItem[];
}

export const attributeModel = defineModel<AttributeRecord>('attributes', {
  fields: {
    name: { type: String, required: true },
    items: { type: [{ key: String, value: String, _id: false }], default: [] },
  },
  indexes: [{ keys: { createdAt: -1, _id: -1 }, serves: 'the list, newest first, and its total' }],
});
