import { defineList, relatedKind, relatedOne } from '@tandem/lists';
import { bulkFields } from '@tandem/storage';
import { z } from 'zod';
import type { HostGiven } from '../shared/host-fields.js';
import { metadataField } from '../shared/metadata.js';
import { priceListFields, priceOfRecord } from '../shared/price.js';
import { defineRecord, field, serverField } from '../shared/record.js';
import { IMAGES_MAX, productKind } from '../products/products.schemas.js';
import { BULK_MAX, Id, Ids, Line, Name, Text, distinct } from '../shared/schemas.js';

const ImageIds = distinct(Id).max(IMAGES_MAX);

export const productVariantRecord = defineRecord('productVariants', {
  fields: {
    productId: serverField(Id, { stored: { type: String, required: true } }),
    title: field(Name.describe('The title of the variant.'), { list: 'string' }),
    description: field(Text.nullable().describe('What distinguishes the variant.'), { list: 'string' }),
    sku: field(Line.nullable().describe('The stock keeping unit.'), { list: 'string' }),
    /** Ids of the product's images. */
    imageIds: field(ImageIds.describe('Images of the product that show the variant.'), { optional: true }),
    /** Takes precedence over the product's price (decisions R5). */
    price: priceOfRecord,
    metadata: metadataField,
  },
  searched: ['title', 'sku'],
  internal: bulkFields,
  listed: priceListFields,
});
export const ProductVariantSchema = productVariantRecord.schema.meta({ id: 'ProductVariant' });
export interface ProductVariant extends z.infer<typeof ProductVariantSchema> {}

export const productVariantKind = relatedKind<ProductVariant>('variant', ProductVariantSchema, {
  resource: productVariantRecord.resource,
});

export const productVariantList = defineList(productVariantRecord.resource, {
  row: ProductVariantSchema,
  reads: { imageIds: ['productId'] },
  relations: { product: relatedOne(productKind, 'productId') },
  own: { productId: Id },
});

export const productVariantInput = z.strictObject({ productId: Id, productVariantId: Id });

const NewVariant = z.strictObject(productVariantRecord.given);
export type NewVariant = z.infer<typeof NewVariant> & HostGiven;
export const createVariantInput = z.strictObject({ productId: Id, ...NewVariant.shape });
export const createVariantsInput = z.strictObject({ productId: Id, variants: z.array(NewVariant).min(1).max(BULK_MAX) });

/** Null clears an optional field (decisions R3). */
const VariantPatch = z.strictObject(productVariantRecord.patch);
export type VariantPatch = z.infer<typeof VariantPatch>;
export const variantPatchInput = z.strictObject({ productId: Id, productVariantId: Id, ...VariantPatch.shape });
export const variantsPatchInput = z.strictObject({
  productId: Id,
  ids: Ids,
  data: VariantPatch.describe('The change, the same for all.'),
});
export const deleteVariantsInput = z.strictObject({ productId: Id, ids: Ids });
