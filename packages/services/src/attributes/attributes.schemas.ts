import { defineList, relatedKind } from '@tandem/lists';
import { z } from 'zod';
import { defineRecord, field } from '../shared/record.js';
import { Id, LINE_MAX, Name } from '../shared/schemas.js';

/** Maximum length in characters, and maximum number of items in a group. */
const VALUE = 1000;
const ITEMS_MAX = 200;

const Items = z
  .array(
    z.strictObject({
      key: z.string().min(1).max(LINE_MAX).describe('What the value is of, such as `size`.'),
      value: z.string().max(VALUE).describe('The value.'),
    }),
  )
  .min(1)
  .max(ITEMS_MAX)
  .describe('The keys and values of the group; in a change they replace all others.');

export const attributeRecord = defineRecord('attributes', {
  fields: { name: field(Name.describe('The name of the group.'), { list: 'string' }), items: field(Items) },
  searched: ['name'],
});
export const AttributeSchema = attributeRecord.schema.meta({ id: 'Attribute' });
export interface Attribute extends z.infer<typeof AttributeSchema> {}

export const attributeKind = relatedKind<Attribute>('attribute', AttributeSchema, { resource: attributeRecord.resource });

export const attributeList = defineList(attributeRecord.resource, { row: AttributeSchema, equal: { name: Name } });

export const attributeInput = z.strictObject({ attributeId: Id });
export const createAttributeInput = z.strictObject(attributeRecord.given);
export type NewAttribute = z.infer<typeof createAttributeInput>;

/** Given items replace all existing ones, because items have no ids to merge by. */
export const attributePatchInput = z.strictObject({ attributeId: Id, ...attributeRecord.patch });
export type AttributePatch = Omit<z.infer<typeof attributePatchInput>, 'attributeId'>;
