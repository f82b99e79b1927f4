import { type ListAnswer, type ListQuery, type Lists, type ReadQuery, versioned } from '@tandem/lists';
import { defineBulkWrites, defineDeletion, newId, present, type Storage } from '@tandem/storage';
import { attributeErrors } from '../attributes/attributes.errors.js';
import type { AttributesService } from '../attributes/attributes.service.js';
import { categoryErrors } from '../categories/categories.errors.js';
import type { CategoriesService } from '../categories/categories.service.js';
import type { Attachments } from '../files/attachments.js';
import { organizationErrors } from '../organizations/organizations.errors.js';
import { existingIn } from '../shared/existing.js';
import { madeIn, manyMadeIn } from '../shared/made-records.js';
import { changeOf, createRetries, givenOf } from '../shared/patching.js';
import { showPrice, storePrice } from '../shared/price.js';
import { productModel, type ProductRecord } from './product.model.js';
import { productErrors as errors } from './products.errors.js';
import {
  organizationProductList,
  productKind,
  productList,
  type NewProduct,
  type Product,
  type ProductPatch,
} from './products.schemas.js';

export type ProductsService = ReturnType<typeof createProductsService>;

interface ProductsOptions {
  storage: Storage;
  lists: Lists;
  categories: Pick<CategoriesService, 'existing'>;
  attributes: Pick<AttributesService, 'existing'>;
  organizationExists(organizationId: string): Promise<boolean>;
  images: Attachments;
}

/** A product without its images, which are stored apart. */
function showBare(record: ProductRecord): Product {
  const {
    writer,
    price,
    organizationId = null,
    categoryIds = [],
    attributeIds = [],
    metadata = {},
    ...product
  } = present(record);
  return {
    ...product,
    metadata,
    organizationId,
    categoryIds,
    attributeIds,
    images: [],
    price: showPrice(record.price),
  };
}

type References = Pick<NewProduct | ProductPatch, 'organizationId' | 'categoryIds' | 'attributeIds'>;

/** Products. Ids are UUID strings; nothing here depends on HTTP. */
export function createProductsService({ storage, lists, categories, attributes, images, organizationExists }: ProductsOptions) {
  const Products = storage.model(productModel);
  const bulk = defineBulkWrites(storage, productModel, { tooLarge: errors.manyTooLarge });
  const untilDone = createRetries();
  const deletion = defineDeletion(storage, productModel, {
    notFound: errors.notFound,
    parentNotFound: organizationErrors.notFound,
  });
  const shown = { show: showBare, complete: { images: addImages } };
  lists.relate(productKind, { model: Products as never, ...shown });
  lists.tell('product', productList, shown);

  /** Adds the images with one query. */
  async function addImages(products: readonly Product[]): Promise<void> {
    const found = await images.of(products.map(({ id }) => id));
    for (const product of products) product.images = found.get(product.id) ?? [];
  }

  async function show(records: readonly ProductRecord[]): Promise<Product[]> {
    const products = records.map((record) => versioned(showBare(record), record));
    await addImages(products);
    return products;
  }

  async function showOne(record: ProductRecord): Promise<Product> {
    const [product] = await show([record]);
    return product as Product;
  }

  /**
   * Checks that referenced records exist. @throws categoryErrors.notFound, attributeErrors.notFound, organizationErrors.notFound
   */
  async function mustExist(products: readonly References[]): Promise<void> {
    const namedIn = (idsOf: (one: References) => readonly string[] | undefined) => [
      ...new Set(products.flatMap((one) => idsOf(one) ?? [])),
    ];
    const categoryIds = namedIn((one) => one.categoryIds);
    const attributeIds = namedIn((one) => one.attributeIds);
    const organizationIds = namedIn((one) => (one.organizationId ? [one.organizationId] : []));
    const [inCategories, inAttributes, organizations] = await Promise.all([
      categories.existing(categoryIds),
      attributes.existing(attributeIds),
      Promise.all(organizationIds.map(organizationExists)),
    ]);
    if (inCategories.size < categoryIds.length) throw categoryErrors.notFound();
    if (inAttributes.size < attributeIds.length) throw attributeErrors.notFound();
    if (organizations.includes(false)) throw organizationErrors.notFound();
  }

  /** Those of the given products that are live. */
  const existing = existingIn(Products);

  /** Live products that fit their schema, in this order. Others can only be deleted (decisions H20). */
  async function read(ids: readonly string[]): Promise<ProductRecord[]> {
    const found = await Products.find({ _id: { $in: ids } }).lean<ProductRecord[]>();
    const fitting = found.filter((record) => lists.fit(productList, record, showBare));
    const byId = new Map(fitting.map((record) => [record._id, record]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  /** @throws errors.manyNotFound unless all are live */
  async function readAll(ids: readonly string[]): Promise<ProductRecord[]> {
    const found = await read(ids);
    if (found.length < ids.length) throw errors.manyNotFound();
    return found;
  }

  /** @throws errors.notFound */
  async function readOne(id: string): Promise<ProductRecord> {
    const found = await Products.findById(id).lean<ProductRecord>();
    if (!found || !lists.fit(productList, found, showBare)) throw errors.notFound();
    return found;
  }

  function fieldsOf({
    name,
    description,
    price,
    organizationId = null,
    categoryIds = [],
    attributeIds = [],
    metadata = {},
    hostFields,
  }: NewProduct) {
    const own = { name, description, organizationId, categoryIds, attributeIds, metadata, ...(hostFields && { hostFields }) };
    return { ...own, price: price ? storePrice(price) : null };
  }

  /** The fields of a copy: without variants, images and likes. */
  function copyOf({
    name,
    description,
    price = null,
    organizationId = null,
    categoryIds = [],
    attributeIds = [],
    metadata = {},
    hostFields,
  }: ProductRecord) {
    const own = hostFields && { hostFields };
    return { name, description, price, organizationId, categoryIds, attributeIds, metadata, ...own };
  }

  return {
    existing,

    /**
     * The organizations of these products, in no particular order; null for a product without one. @returns undefined unless all
     * are live
     */
    async organizationsOf(productIds: readonly string[]): Promise<(string | null)[] | undefined> {
      const found = await Products.find({ _id: { $in: productIds } }, { organizationId: 1 }).lean<ProductRecord[]>();
      if (found.length < new Set(productIds).size) return undefined;
      return found.map(({ organizationId = null }) => organizationId);
    },

    /** Prices and names of live products by id. Orders read them through `priceLines`, together with those of variants. */
    async pricesOf(productIds: readonly string[]) {
      return new Map(
        (await read(productIds)).map(
          ({ _id, name, price = null, organizationId = null }) => [_id, { name, price, organizationId }] as const,
        ),
      );
    },

    /**
     * Creates products, all or none, in this order. @throws categoryErrors.notFound, attributeErrors.notFound,
     * organizationErrors.notFound, errors.manyTooLarge
     */
    async createMany(products: readonly NewProduct[], nextId?: () => string): Promise<Product[]> {
      await mustExist(products);
      return (await bulk.insert(products.map(fieldsOf), nextId)).map(showBare);
    },

    /** @throws what `createMany` throws */
    async create(product: NewProduct, nextId?: () => string): Promise<Product> {
      const [made] = await this.createMany([product], nextId);
      return made as Product;
    },

    made: madeIn(Products, showOne),
    manyMade: manyMadeIn(Products, show),

    list(query: ListQuery): Promise<ListAnswer<Product>> {
      return lists.answer(productList, Products, shown, query);
    },

    listOfOrganization(organizationId: string, query: ListQuery): Promise<ListAnswer<Product>> {
      return lists.answer(organizationProductList, Products, { scope: { organizationId }, ...shown }, query);
    },

    /** @throws errors.notFound */
    async get(productId: string, query?: ReadQuery): Promise<Product> {
      return lists.find(productList, Products, { _id: productId }, shown, errors.notFound, query);
    },

    /**
     * Changes the given fields in one write; a price is merged.
     * @throws errors.nothingToUpdate for an empty change, notFound; what `createMany` throws; validationError for an amount that
     * does not fit the currency
     */
    async patch(productId: string, patch: ProductPatch): Promise<Product> {
      const given = givenOf(patch);
      if (Object.keys(given).length === 0) throw errors.nothingToUpdate();
      await mustExist([given]);
      return untilDone(productId, async () => {
        const change = changeOf(await readOne(productId), given);
        // the new organization may be deleted meanwhile, so this needs a unit of work
        if (given.organizationId) return (await bulk.update([change])) ? showOne(await readOne(productId)) : undefined;
        const { set, expected } = change;
        const options = { returnDocument: 'after' } as const;
        const filter = { _id: productId, ...expected } as object;
        const after = await Products.findOneAndUpdate(filter, { $set: { ...set, writer: newId(storage.clock) } }, options).lean();
        return after ? showOne(after) : undefined;
      });
    },

    /**
     * Makes the same change to many products, all or none. @throws errors.nothingToUpdateInMany, manyNotFound unless all are
     * live; what `patch` throws
     */
    async patchMany(ids: readonly string[], patch: ProductPatch): Promise<Product[]> {
      const given = givenOf(patch);
      if (Object.keys(given).length === 0) throw errors.nothingToUpdateInMany();
      await mustExist([given]);
      return untilDone(ids.toSorted()[0] ?? '', async () => {
        const records = await readAll(ids);
        const isDone = await bulk.update(records.map((record) => changeOf(record, given, '/data')));
        return isDone ? show(await read(ids)) : undefined;
      });
    },

    /**
     * Copies products without variants, images and likes, all or none, in this order. @throws errors.manyNotFound unless all are
     * live; manyTooLarge
     */
    async copyMany(ids: readonly string[], nextId?: () => string): Promise<Product[]> {
      return (await bulk.insert((await readAll(ids)).map(copyOf), nextId)).map(showBare);
    },

    /** @throws errors.notFound */
    async copy(productId: string, nextId?: () => string): Promise<Product> {
      const [made] = await bulk.insert([copyOf(await readOne(productId))], nextId);
      return showBare(made as ProductRecord);
    },

    /** Soft-deletes a product with its variants. @throws errors.notFound */
    delete: (productId: string): Promise<void> => deletion.delete([productId]),

    /** Soft-deletes many products, all or none. @throws errors.manyNotFound unless all are live */
    deleteMany: (ids: readonly string[]): Promise<void> => deletion.delete(ids, errors.manyNotFound),

    /**
     * Restores a product with its images and the variants deleted with it.
     * @throws errors.notFound when there is nothing to restore, organizationErrors.notFound when its organization is deleted
     */
    async restore(productId: string): Promise<Product> {
      await deletion.restore(productId);
      return showOne(await readOne(productId));
    },
  };
}
