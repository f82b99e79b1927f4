import { defineListResource } from '@tandem/list-query';
import { defineList } from '@tandem/lists';
import { z } from 'zod';
import { Id, LINE_MAX, Name, Timestamp } from '../shared/schemas.js';

/** Maximum length in characters, and maximum number of items in a group. */
const VALUE = 1000;
const ITEMS_MAX = 200;

const Items = z
  .array(z.strictObject({ key: z.string().min(1).max(LINE_MAX), value: z.string().max(VALUE) }))
  .min(1)
  .max(ITEMS_MAX);

export const AttributeSchema = z
  .object({
    id: Id,
    name: z.string(),
    items: z.array(z.object({ key: z.string(), value: z.string() })),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Attribute' });
export type Attribute = z.infer<typeof AttributeSchema>;

export const attributeResource = defineListResource({
  name: 'attributes',
  fields: { name: 'string', createdAt: 'date', updatedAt: 'date' },
  defaultOrder: 'createdAt desc, id desc',
});
export const attributeList = defineList(attributeResource, { row: AttributeSchema, equal: { name: Name } });

export const attributeInput = z.strictObject({ attributeId: Id });
export const createAttributeInput = z.strictObject({ name: Name, items: Items });
export type NewAttribute = z.infer<typeof createAttributeInput>;

/** Given items replace all existing ones, because items have no ids to merge by. */
export const attributePatchInput = z.strictObject({ attributeId: Id, name: Name.optional(), items: Items.optional() });
export type AttributePatch = Omit<z.infer<typeof attributePatchInput>, 'attributeId'>;
