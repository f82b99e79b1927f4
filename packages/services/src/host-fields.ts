import { indexesLike } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import type { z } from 'zod';
import { productModel } from './products/product.model.js';
import { ProductSchema, productList, productRecord } from './products/products.schemas.js';
import { createExtension, type Extension } from './shared/host-fields.js';

/** The fields that a host adds to records, by the name of their service (docs/embedding.md). */
export interface DeclaredFields {
  products?: z.ZodObject;
}

const EXTENDABLE = {
  products: {
    record: productRecord,
    schema: ProductSchema,
    model: productModel,
    reserved: ['productId', 'imageId', 'products', ...Object.keys(productList.relations)],
  },
} as const;

/** What a host's fields are added to: inputs, answers and lists; those without any stay as they are. */
export type HostFields = Pick<Extension, 'input' | 'output' | 'list'>;

/** @throws Error naming a setting that is wrong */
export function createHostFields(declared: DeclaredFields, storage: Pick<Storage, 'addIndexes'>): HostFields {
  const extensions = Object.entries(declared).map(([service, fields]) => {
    if (!Object.hasOwn(EXTENDABLE, service)) throw new Error(`fields: "${service}" has no records that fields can be added to`);
    const { model, ...extendable } = EXTENDABLE[service as keyof typeof EXTENDABLE];
    const extension = createExtension(`fields.${service}`, extendable, fields as z.ZodObject);
    storage.addIndexes(model, indexesLike(extension.resource, extendable.record.resource));
    return extension;
  });
  const all = <Of>(one: Of, extend: (extension: Extension, one: Of) => Of) =>
    extensions.reduce((extended, extension) => extend(extension, extended), one);
  return {
    input: (schema) => all(schema, ({ input }, one) => input(one)),
    output: (schema) => all(schema, ({ output }, one) => output(one)),
    list: (list) => all(list, (extension, one) => extension.list(one)),
  };
}
