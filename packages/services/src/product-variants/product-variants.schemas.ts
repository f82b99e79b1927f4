import { defineListResource } from '@tandem/list-query';
import { defineList } from '@tandem/lists';
import { DELETION_FIELDS } from '@tandem/storage';
import { z } from 'zod';
import { GivenPrice, PricePatch, PriceSchema, priceListFields } from '../shared/price.js';
import { IMAGES_MAX } from '../products/products.schemas.js';
import { BULK_MAX, Id, Ids, Line, Name, Text, Timestamp, distinct } from '../shared/schemas.js';

const ImageIds = distinct(Id).max(IMAGES_MAX);

export const ProductVariantSchema = z
  .object({
    id: Id,
    productId: Id,
    title: z.string(),
    description: z.string().nullable(),
    sku: z.string().nullable(),
    /** Ids of the product's images. */
    imageIds: z.array(z.string()),
    price: PriceSchema.nullable(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'ProductVariant' });
export type ProductVariant = z.infer<typeof ProductVariantSchema>;

export const productVariantResource = defineListResource({
  name: 'productVariants',
  fields: { title: 'string', description: 'string', sku: 'string', ...priceListFields, createdAt: 'date', updatedAt: 'date' },
  hidden: ['writer', ...DELETION_FIELDS],
  defaultOrder: 'createdAt desc, id desc',
});
export const productVariantList = defineList(productVariantResource, { row: ProductVariantSchema, own: { productId: Id } });

export const productVariantInput = z.strictObject({ productId: Id, productVariantId: Id });

const NewVariant = z.strictObject({
  title: Name,
  description: Text.nullable().optional(),
  sku: Line.nullable().optional(),
  imageIds: ImageIds.optional(),
  price: GivenPrice.nullable().optional(),
});
export type NewVariant = z.infer<typeof NewVariant>;
export const createVariantInput = z.strictObject({ productId: Id, ...NewVariant.shape });
export const createVariantsInput = z.strictObject({ productId: Id, variants: z.array(NewVariant).min(1).max(BULK_MAX) });

/** Null clears an optional field (decisions R3). */
const VariantPatch = z.strictObject({
  title: Name.optional(),
  description: Text.nullable().optional(),
  sku: Line.nullable().optional(),
  imageIds: ImageIds.optional(),
  price: PricePatch.nullable().optional(),
});
export type VariantPatch = z.infer<typeof VariantPatch>;
export const variantPatchInput = z.strictObject({ productId: Id, productVariantId: Id, ...VariantPatch.shape });
export const variantsPatchInput = z.strictObject({ productId: Id, ids: Ids, data: VariantPatch });
export const deleteVariantsInput = z.strictObject({ productId: Id, ids: Ids });
