import { type ListAnswer, type ListQuery, type Lists, type ReadQuery, versioned } from '@tandem/lists';
import { defineBulkWrites, defineDeletion, newId, present, type Storage } from '@tandem/storage';
import { madeIn, manyMadeIn } from '../shared/made-records.js';
import { changeOf, createRetries, givenOf } from '../shared/patching.js';
import { showPrice, storePrice, type StoredPrice } from '../shared/price.js';
import { productErrors } from '../products/products.errors.js';
import { productVariantModel, type ProductVariantRecord } from './product-variant.model.js';
import { productVariantErrors as errors } from './product-variants.errors.js';
import {
  productVariantKind,
  productVariantList,
  type NewVariant,
  type ProductVariant,
  type VariantPatch,
} from './product-variants.schemas.js';

export type ProductVariantsService = ReturnType<typeof createProductVariantsService>;

interface ProductVariantsOptions {
  storage: Storage;
  lists: Lists;
  /** Whether a live product has this id. */
  productExists(productId: string): Promise<boolean>;
  /** Ids of the images of products, by product. */
  imagesOf(productIds: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>>;
}

/** A variant with the image ids it was given, some of which may be removed by now. */
function showBare(record: ProductVariantRecord): ProductVariant {
  const { writer, price, description = null, sku = null, imageIds = [], metadata = {}, ...variant } = present(record);
  return { ...variant, metadata, description, sku, imageIds, price: showPrice(record.price) };
}

/** Variants, always within the given product (decisions R10). Ids are UUID strings; nothing here depends on HTTP. */
export function createProductVariantsService({ storage, lists, productExists, imagesOf }: ProductVariantsOptions) {
  const Variants = storage.model(productVariantModel);
  const bulk = defineBulkWrites(storage, productVariantModel, { tooLarge: errors.manyTooLarge });
  const untilDone = createRetries();
  const deletion = defineDeletion(storage, productVariantModel, { notFound: errors.notFound });

  /**
   * Drops the ids of removed images, so that removing an image takes only one write. Queries only if a variant names an image.
   */
  async function leaveOutRemoved(variants: readonly ProductVariant[]): Promise<void> {
    const illustrated = variants.filter(({ imageIds }) => imageIds.length > 0);
    if (illustrated.length === 0) return;
    const images = await imagesOf([...new Set(illustrated.map(({ productId }) => productId))]);
    for (const variant of illustrated)
      variant.imageIds = variant.imageIds.filter((id) => images.get(variant.productId)?.has(id) === true);
  }
  const shown = { show: showBare, complete: { imageIds: leaveOutRemoved } };
  lists.relate(productVariantKind, { model: Variants as never, ...shown });
  lists.tell('productVariant', productVariantList, shown);

  async function show(records: readonly ProductVariantRecord[]): Promise<ProductVariant[]> {
    const variants = records.map((record) => versioned(showBare(record), record));
    await leaveOutRemoved(variants);
    return variants;
  }

  async function showOne(record: ProductVariantRecord): Promise<ProductVariant> {
    const [variant] = await show([record]);
    return variant as ProductVariant;
  }

  /** @throws productErrors.imageNotFound unless all are images of the product */
  async function mustHaveImages(productId: string, imageIds: readonly string[]): Promise<void> {
    if (imageIds.length === 0) return;
    const images = (await imagesOf([productId])).get(productId);
    if (!imageIds.every((id) => images?.has(id))) throw productErrors.imageNotFound();
  }

  /** Live variants that fit their schema. Others can only be deleted (decisions H20). */
  async function findFitting(filter: object): Promise<ProductVariantRecord[]> {
    const found = await Variants.find(filter).lean<ProductVariantRecord[]>();
    return found.filter((record) => lists.fit(productVariantList, record, showBare));
  }

  async function read(productId: string, ids: readonly string[]): Promise<ProductVariantRecord[]> {
    const found = await findFitting({ _id: { $in: ids }, productId });
    const byId = new Map(found.map((record) => [record._id, record]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  /** The product's variants, in this order. @throws errors.manyNotFound unless the product and all variants are live */
  async function readAll(productId: string, ids: readonly string[]): Promise<ProductVariantRecord[]> {
    const [found, isThere] = await Promise.all([read(productId, ids), productExists(productId)]);
    if (!isThere || found.length < ids.length) throw errors.manyNotFound();
    return found;
  }

  /** Also checks the product: a variant created during the product's deletion must not be found. @throws errors.notFound */
  async function readOne(productId: string, id: string): Promise<ProductVariantRecord> {
    const [[found], isThere] = await Promise.all([read(productId, [id]), productExists(productId)]);
    if (!isThere || !found) throw errors.notFound();
    return found;
  }

  return {
    /** Takes an image that was removed out of a product's variants, which gives these another version. */
    async leaveOutImage(productId: string, imageId: string): Promise<void> {
      const showing = { productId, imageIds: imageId };
      await Variants.updateMany(showing, { $pull: { imageIds: imageId }, $set: { updatedAt: storage.clock.now() } });
    },

    /** Creates variants, all or none, in this order. @throws productErrors.notFound, imageNotFound; errors.manyTooLarge */
    async createMany(productId: string, variants: readonly NewVariant[], nextId?: () => string): Promise<ProductVariant[]> {
      if (!(await productExists(productId))) throw productErrors.notFound();
      await mustHaveImages(
        productId,
        variants.flatMap(({ imageIds = [] }) => imageIds),
      );
      const fields = variants.map(
        ({ price, description = null, sku = null, imageIds = [], metadata = {}, title, hostFields }) => {
          const own = { title, description, sku, imageIds, metadata, ...(hostFields && { hostFields }) };
          return { productId, ...own, price: price ? storePrice(price) : null };
        },
      );
      return show(await bulk.insert(fields, nextId));
    },

    /** @throws productErrors.notFound, imageNotFound */
    async create(productId: string, variant: NewVariant, nextId?: () => string): Promise<ProductVariant> {
      const [made] = await this.createMany(productId, [variant], nextId);
      return made as ProductVariant;
    },

    made: madeIn(Variants, showOne),
    manyMade: manyMadeIn(Variants, show),

    /** @throws productErrors.notFound */
    async list(productId: string, query: ListQuery): Promise<ListAnswer<ProductVariant>> {
      const answer = lists.answer(productVariantList, Variants, { scope: { productId }, ...shown }, query);
      const [page, isThere] = await Promise.all([answer, productExists(productId)]);
      if (!isThere) throw productErrors.notFound();
      return page;
    },

    /** @throws errors.notFound */
    async get(productId: string, id: string, query?: ReadQuery): Promise<ProductVariant> {
      const found = lists.find(productVariantList, Variants, { _id: id, productId }, shown, errors.notFound, query);
      const [variant, isThere] = await Promise.all([found, productExists(productId)]);
      if (!isThere) throw errors.notFound();
      return variant;
    },

    /**
     * Changes the given fields in one write; a price is merged.
     * @throws errors.nothingToUpdate for an empty change, notFound; productErrors.imageNotFound; validationError for an amount
     * that does not fit the currency
     */
    async patch(productId: string, id: string, patch: VariantPatch): Promise<ProductVariant> {
      const given = givenOf(patch);
      if (Object.keys(given).length === 0) throw errors.nothingToUpdate();
      return untilDone(productId, async () => {
        const { set, expected } = changeOf(await readOne(productId, id), given);
        await mustHaveImages(productId, given.imageIds ?? []);
        const options = { returnDocument: 'after' } as const;
        const filter = { _id: id, productId, ...expected } as object;
        const after = await Variants.findOneAndUpdate(filter, { $set: { ...set, writer: newId(storage.clock) } }, options).lean();
        return after ? showOne(after) : undefined;
      });
    },

    /**
     * Makes the same change to many variants, all or none.
     * @throws errors.nothingToUpdateInMany, manyTooLarge, manyNotFound unless all belong to the product;
     * productErrors.imageNotFound, validationError as in `patch`
     */
    async patchMany(productId: string, ids: readonly string[], patch: VariantPatch): Promise<ProductVariant[]> {
      const given = givenOf(patch);
      if (Object.keys(given).length === 0) throw errors.nothingToUpdateInMany();
      return untilDone(productId, async () => {
        const records = await readAll(productId, ids);
        await mustHaveImages(productId, given.imageIds ?? []);
        const isDone = await bulk.update(records.map((record) => changeOf(record, given, '/data')));
        return isDone ? show(await read(productId, ids)) : undefined;
      });
    },

    /** Soft-deletes a variant. @throws errors.notFound */
    async delete(productId: string, id: string): Promise<void> {
      if (!(await productExists(productId))) throw errors.notFound();
      await deletion.delete([id], errors.notFound, { productId });
    },

    /** Soft-deletes many variants, all or none. @throws errors.manyNotFound unless all belong to the product */
    async deleteMany(productId: string, ids: readonly string[]): Promise<void> {
      if (!(await productExists(productId))) throw errors.manyNotFound();
      await deletion.delete(ids, errors.manyNotFound, { productId });
    },

    /** @throws errors.notFound when there is nothing to restore, or the product is not live */
    async restore(productId: string, id: string): Promise<ProductVariant> {
      await deletion.restore(id, { productId });
      return this.get(productId, id);
    },

    /** Prices of live variants by id, whether or not their products are live. For `priceLines`. */
    async pricesOf(
      ids: readonly string[],
    ): Promise<Map<string, { productId: string; title: string; price: StoredPrice | null }>> {
      if (ids.length === 0) return new Map();
      const found = await findFitting({ _id: { $in: ids } });
      return new Map(found.map(({ _id, productId, title, price = null }) => [_id, { productId, title, price }]));
    },
  };
}
