import type { Attachments } from '../files/attachments.js';
import type { GivenFile, ShownFile, UploadAddress, UploadRequest } from '../files/files.schemas.js';
import { productErrors as errors } from './products.errors.js';

export type ProductImagesService = ReturnType<typeof createProductImagesService>;

interface ProductImagesOptions {
  images: Attachments;
  /** Whether a product lives. */
  productExists(productId: string): Promise<boolean>;
}

/**
 * Images of products. Those of a deleted product stay with it: an image that is added while its product is deleted is there when that comes
 * back. `identityId` is who asks.
 */
export function createProductImagesService({ images, productExists }: ProductImagesOptions) {
  /** @throws errors.notFound */
  async function mustExist(productId: string): Promise<void> {
    if (!(await productExists(productId))) throw errors.notFound();
  }

  return {
    /** Where to upload an image to. @throws errors.notFound; fileErrors.tooManyUnused */
    async uploadUrl(productId: string, request: UploadRequest, identityId: string): Promise<UploadAddress> {
      await mustExist(productId);
      return images.issue(request, identityId);
    },

    /** Adds an uploaded image, as the last one. @throws errors.notFound; ATTACH_ERRORS, fileErrors.tooMany */
    async add(productId: string, given: GivenFile, identityId: string): Promise<ShownFile> {
      await mustExist(productId);
      return images.attach(productId, given, identityId);
    },

    /** Removes an image for good; variants that name it name it no more. @throws errors.notFound, imageNotFound */
    async remove(productId: string, imageId: string): Promise<void> {
      await mustExist(productId);
      if (!(await images.remove(productId, imageId))) throw errors.imageNotFound();
    },
  };
}
