import { defineList, relatedKind, relatedMany, relatedOne } from '@tandem/lists';
import { bulkFields } from '@tandem/storage';
import { z } from 'zod';
import { attributeKind } from '../attributes/attributes.schemas.js';
import { categoryKind } from '../categories/categories.schemas.js';
import { IMAGE_TYPES } from '../files/file-types.js';
import { FileSchema, GivenFileSchema, uploadParameters } from '../files/files.schemas.js';
import { organizationKind } from '../organizations/organizations.schemas.js';
import type { HostGiven } from '../shared/host-fields.js';
import { metadataField } from '../shared/metadata.js';
import { priceOfRecord, priceListFields } from '../shared/price.js';
import { defineRecord, field, serverField } from '../shared/record.js';
import { BULK_MAX, Id, Ids, Name, distinct } from '../shared/schemas.js';

/** Maximum number of images per product. */
export const IMAGES_MAX = 50;
/** Maximum length of a description in characters, and maximum number of references. */
const TEXT = 10_000;
const REFERENCES_MAX = 50;

const Text = z.string().max(TEXT);
const References = distinct(Id).max(REFERENCES_MAX);

export const productRecord = defineRecord('products', {
  fields: {
    name: field(Name.describe('The name of the product.'), { list: 'string' }),
    description: field(Text.describe('What the product is.'), { list: 'string' }),
    /** Null if only its variants have prices, or none was set. */
    price: priceOfRecord,
    metadata: metadataField,
    /** The owning organization; null if only admins manage the product. */
    organizationId: field(Id.nullable().describe('The owning organization; null if only admins manage the product.'), {
      list: 'string',
    }),
    categoryIds: field(References.describe('The categories that the product belongs to.'), { optional: true, list: 'string[]' }),
    attributeIds: field(References.describe('The attribute groups of the product.'), { optional: true }),
    /** In the order they were added. */
    images: serverField(z.array(FileSchema)),
  },
  searched: ['name', 'description'],
  internal: bulkFields,
  listed: priceListFields,
});
export const ProductSchema = productRecord.schema.meta({ id: 'Product' });
export interface Product extends z.infer<typeof ProductSchema> {}

export const productKind = relatedKind<Product>('product', ProductSchema, { resource: productRecord.resource });

const shown = {
  row: ProductSchema,
  relations: {
    organization: relatedOne(organizationKind, 'organizationId'),
    categories: relatedMany(categoryKind, 'categoryIds'),
    attributes: relatedMany(attributeKind, 'attributeIds'),
  },
};
export const productList = defineList(productRecord.resource, { ...shown, equal: { name: Name, description: Text } });
export const organizationProductList = defineList(productRecord.resource, { ...shown, own: { organizationId: Id } });

export const productInput = z.strictObject({ productId: Id });

export const imageUploadInput = z.strictObject({ productId: Id, ...uploadParameters(IMAGE_TYPES) });
export const addImageInput = z.strictObject({ productId: Id, ...GivenFileSchema.shape });
export const imageInput = z.strictObject({ productId: Id, imageId: Id });

const NewProduct = z.strictObject(productRecord.given);
export type NewProduct = z.infer<typeof NewProduct> & HostGiven;
export const createProductInput = z.strictObject(NewProduct.shape);
export const createProductsInput = z.strictObject({ products: z.array(NewProduct).min(1).max(BULK_MAX) });

/** Null clears an optional field (decisions R3). */
const ProductPatch = z.strictObject(productRecord.patch);
export type ProductPatch = z.infer<typeof ProductPatch>;
export const productPatchInput = z.strictObject({ productId: Id, ...ProductPatch.shape });
export const productIdsInput = z.strictObject({ ids: Ids });
export const productsPatchInput = z.strictObject({ ids: Ids, data: ProductPatch.describe('The change, the same for all.') });
