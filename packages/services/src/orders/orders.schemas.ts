import { defineListResource } from '@tandem/list-query';
import { defineList, relatedOne } from '@tandem/lists';
import { TRACE } from '@tandem/storage';
import { z } from 'zod';
import { organizationKind } from '../organizations/organizations.schemas.js';
import { personKind } from '../people/people.schemas.js';
import { productVariantKind, ProductVariantSchema } from '../product-variants/product-variants.schemas.js';
import { productKind, ProductSchema } from '../products/products.schemas.js';
import type { HostGiven } from '../shared/host-fields.js';
import {
  GivenMetadata,
  GivenPrivateMetadata,
  METADATA_LIST_FIELD,
  MetadataPatch,
  MetadataSchema,
  PRIVATE_LIST_FIELD,
  PrivateMetadataSchema,
} from '../shared/metadata.js';
import { AMOUNT_PLACES, Amount, Currency } from '../shared/money.js';
import { Id, Timestamp } from '../shared/schemas.js';
import { ORDER_STATUSES } from './order-states.js';

/** Maximum number of lines, and maximum quantity of a line. */
const MAX_LINES = 100;
const MAX_QUANTITY = 1_000_000;

const Quantity = z.number().int().min(1).max(MAX_QUANTITY).describe('How many pieces.');
const Status = z.enum(ORDER_STATUSES);

const LineSchema = z.object({
  productId: z.string(),
  variantId: z.string().nullable(),
  quantity: z.number().int(),
  price: z.number().meta({ description: 'Unit price at the time of the order' }),
  priceSource: z
    .enum(['variant', 'product', 'caller'])
    .meta({ description: 'Source of the price; `caller` if neither variant nor product has one' }),
});

export const OrderSchema = z
  .object({
    id: Id,
    identityId: z.string(),
    organizationId: z.string().nullable(),
    currency: z.string(),
    items: z.array(LineSchema),
    subtotal: z.number(),
    tax: z.number(),
    total: z.number(),
    status: Status,
    metadata: MetadataSchema,
    privateMetadata: PrivateMetadataSchema,
    history: z.array(z.object({ status: Status, at: Timestamp, identityId: z.string() })),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Order' });
export type Order = z.infer<typeof OrderSchema>;

/** Queries use the shown amounts, because 5 minor units mean a different amount in each currency. */
export const orderResource = defineListResource({
  name: 'orders',
  fields: {
    identityId: 'string',
    organizationId: 'string',
    status: 'string',
    currency: 'string',
    subtotal: { type: 'number', stored: 'shown.subtotal', places: AMOUNT_PLACES },
    tax: { type: 'number', stored: 'shown.tax', places: AMOUNT_PLACES },
    total: { type: 'number', stored: 'shown.total', places: AMOUNT_PLACES },
    metadata: METADATA_LIST_FIELD,
    privateMetadata: PRIVATE_LIST_FIELD,
    createdAt: 'date',
    updatedAt: 'date',
  },
  hidden: [TRACE],
  defaultOrder: 'createdAt desc, id desc',
});
const relations = {
  buyer: relatedOne(personKind, 'identityId'),
  organization: relatedOne(organizationKind, 'organizationId'),
  'items.product': relatedOne(productKind, 'items.productId'),
  'items.variant': relatedOne(productVariantKind, 'items.variantId'),
};
const ExpandedLine = LineSchema.extend({
  product: ProductSchema.nullable().optional(),
  variant: ProductVariantSchema.nullable().optional(),
});
/** An order whose lines have the related records that `$expand` adds. */
export const ExpandableOrderSchema = OrderSchema.extend({ items: z.array(ExpandedLine) }).meta({ id: 'ListedOrder' });
const shown = {
  row: ExpandableOrderSchema,
  reads: { items: ['currency'] },
  relations,
};

export const orderList = defineList(orderResource, {
  ...shown,
  own: { identityId: Id.describe('The buyer. Required, except for admins.').optional() },
  equal: {
    organizationId: Id,
    status: Status,
    currency: Currency,
    subtotal: Amount,
    tax: Amount,
    total: Amount,
  },
});
export const organizationOrderList = defineList(orderResource, { ...shown, own: { organizationId: Id } });

const given = { metadata: GivenMetadata.optional() };
const patch = { metadata: MetadataPatch.optional() };
/** Lines show more in lists. */
export const orderRecord = { given, patch, schema: OrderSchema.omit({ items: true }), resource: orderResource };

export const orderInput = z.strictObject({ orderId: Id });
export const createOrderInput = z.strictObject({
  identityId: Id.describe('The buyer.'),
  organizationId: Id.optional().meta({
    description: 'Default: the organization of the products. If they have one, no other is allowed',
  }),
  currency: Currency.optional().meta({
    description: 'Default: the currency of the catalogue prices. Required if no line has one',
  }),
  items: z
    .array(
      z.strictObject({
        productId: Id,
        variantId: Id.describe('A variant of the product.').optional(),
        quantity: Quantity,
        price: Amount.optional().meta({ description: 'Unit price; used only if neither variant nor product has one' }),
      }),
    )
    .min(1)
    .max(MAX_LINES)
    .describe('The lines of the order.'),
  ...given,
  privateMetadata: GivenPrivateMetadata,
  tax: Amount.describe('The tax, which is added to the lines.').optional(),
  subtotal: Amount.optional().meta({ description: 'Must equal what the server computes' }),
  total: Amount.optional().meta({ description: 'Must equal what the server computes' }),
});
export type NewOrder = z.infer<typeof createOrderInput> & HostGiven;

/** Only the state and metadata may change, not lines or amounts (decisions R6). */
export const orderPatchInput = z.strictObject({
  orderId: Id,
  status: Status.describe('The state to move to.').optional(),
  ...patch,
  privateMetadata: MetadataPatch.optional(),
});
export type OrderPatch = Omit<z.infer<typeof orderPatchInput>, 'orderId'>;
