import { defineListResource } from '@tandem/list-query';
import { defineList } from '@tandem/lists';
import { DELETION_FIELDS } from '@tandem/storage';
import { z } from 'zod';
import { attributeResource, AttributeSchema } from '../attributes/attributes.schemas.js';
import { categoryResource, CategorySchema } from '../categories/categories.schemas.js';
import { IMAGE_TYPES } from '../files/file-types.js';
import { FileSchema, GivenFileSchema, uploadParameters } from '../files/files.schemas.js';
import { GivenPrice, PricePatch, PriceSchema, priceListFields } from '../shared/price.js';
import { BULK_MAX, Id, Ids, Name, Timestamp, distinct } from '../shared/schemas.js';

/** Maximum number of images per product. */
export const IMAGES_MAX = 50;
/** Maximum length of a description in characters, and maximum number of references. */
const TEXT = 10_000;
const REFERENCES_MAX = 50;

const Text = z.string().max(TEXT);
const References = distinct(Id).max(REFERENCES_MAX);

export const ProductSchema = z
  .object({
    id: Id,
    name: z.string(),
    description: z.string(),
    price: PriceSchema.nullable(),
    organizationId: z.string().nullable(),
    categoryIds: z.array(z.string()),
    attributeIds: z.array(z.string()),
    /** In the order they were added. */
    images: z.array(FileSchema),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Product' });
export type Product = z.infer<typeof ProductSchema>;

export const productResource = defineListResource({
  name: 'products',
  fields: {
    name: 'string',
    description: 'string',
    organizationId: 'string',
    categoryIds: 'string[]',
    ...priceListFields,
    createdAt: 'date',
    updatedAt: 'date',
  },
  hidden: ['writer', ...DELETION_FIELDS],
  relations: {
    categories: { from: 'categoryIds', to: 'categories.id', resource: categoryResource },
    attributes: { from: 'attributeIds', to: 'attributes.id', resource: attributeResource },
  },
  defaultOrder: 'createdAt desc, id desc',
});
const shown = {
  row: ProductSchema,
  related: { categories: z.array(CategorySchema.nullable()), attributes: z.array(AttributeSchema.nullable()) },
};
export const productList = defineList(productResource, { ...shown, equal: { name: Name, description: Text } });
export const organizationProductList = defineList(productResource, { ...shown, own: { organizationId: Id } });

export const productInput = z.strictObject({ productId: Id });

export const imageUploadInput = z.strictObject({ productId: Id, ...uploadParameters(IMAGE_TYPES) });
export const addImageInput = z.strictObject({ productId: Id, ...GivenFileSchema.shape });
export const imageInput = z.strictObject({ productId: Id, imageId: Id });

const NewProduct = z.strictObject({
  name: Name,
  description: Text,
  price: GivenPrice.nullable().optional(),
  organizationId: Id.nullable().optional(),
  categoryIds: References.optional(),
  attributeIds: References.optional(),
});
export type NewProduct = z.infer<typeof NewProduct>;
export const createProductInput = z.strictObject(NewProduct.shape);
export const createProductsInput = z.strictObject({ products: z.array(NewProduct).min(1).max(BULK_MAX) });

/** Null clears an optional field (decisions R3). */
const ProductPatch = z.strictObject({
  name: Name.optional(),
  description: Text.optional(),
  price: PricePatch.nullable().optional(),
  organizationId: Id.nullable().optional(),
  categoryIds: References.optional(),
  attributeIds: References.optional(),
});
export type ProductPatch = z.infer<typeof ProductPatch>;
export const productPatchInput = z.strictObject({ productId: Id, ...ProductPatch.shape });
export const productIdsInput = z.strictObject({ ids: Ids });
export const productsPatchInput = z.strictObject({ ids: Ids, data: ProductPatch });
