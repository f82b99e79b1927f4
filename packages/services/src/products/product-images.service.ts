import type { Storage } from '@tandem/storage';
import type { Attachments } from '../files/attachments.js';
import type { GivenFile, ShownFile, UploadAddress, UploadRequest } from '../files/files.schemas.js';
import { productModel } from './product.model.js';
import { productErrors as errors } from './products.errors.js';

export type ProductImagesService = ReturnType<typeof createProductImagesService>;

interface ProductImagesOptions {
  storage: Storage;
  images: Attachments;
  /** Whether a live product has this id. */
  productExists(productId: string): Promise<boolean>;
  /** Takes an image that was removed out of the product's variants. */
  leaveOutOfVariants(productId: string, imageId: string): Promise<void>;
}

/**
 * Images of products. They stay with a deleted product, so that an image added during the deletion is there after a restore.
 * `identityId` is the caller.
 */
export function createProductImagesService({ storage, images, productExists, leaveOutOfVariants }: ProductImagesOptions) {
  const Products = storage.model(productModel);

  /** Gives a product, which shows its images, another version. */
  async function touch(productId: string): Promise<void> {
    await Products.updateOne({ _id: productId }, { $set: { updatedAt: storage.clock.now() } });
  }

  /** @throws errors.notFound */
  async function mustExist(productId: string): Promise<void> {
    if (!(await productExists(productId))) throw errors.notFound();
  }

  return {
    /** Issues an upload address for an image. @throws errors.notFound; fileErrors.tooManyUnused */
    async uploadUrl(productId: string, request: UploadRequest, identityId: string): Promise<UploadAddress> {
      await mustExist(productId);
      return images.issue(request, identityId);
    },

    /** Adds an uploaded image at the end. @throws errors.notFound; ATTACH_ERRORS, fileErrors.tooMany */
    async add(productId: string, given: GivenFile, identityId: string): Promise<ShownFile> {
      await mustExist(productId);
      const added = await images.attach(productId, given, identityId);
      await touch(productId);
      return added;
    },

    /** What an earlier attempt has added. It may have ended before the product got its new version. */
    async attached(productId: string, given: GivenFile, identityId: string): Promise<ShownFile | undefined> {
      const added = await images.attached(productId, given, identityId);
      if (added) await touch(productId);
      return added;
    },

    /** Removes an image for good, from the product's variants too. @throws errors.notFound, imageNotFound */
    async remove(productId: string, imageId: string): Promise<void> {
      await mustExist(productId);
      const isRemoved = await images.remove(productId, imageId);
      // an earlier attempt may have ended before the records got their new versions
      if (isRemoved || (await images.wasRemoved(productId, imageId))) {
        await touch(productId);
        await leaveOutOfVariants(productId, imageId);
      }
      if (!isRemoved) throw errors.imageNotFound();
    },
  };
}
