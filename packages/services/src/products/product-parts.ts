import { createProductVariantsService } from '../product-variants/product-variants.service.js';
import { definePart } from '../shared/define-service.js';
import { createProductImagesService } from './product-images.service.js';
import { IMAGES_MAX } from './products.schemas.js';

/** The files of images of products. */
export const images = definePart({
  create: ({ files }) => ({ images: files.attachments({ purpose: 'product-image', max: IMAGES_MAX }) }),
});

/** Variants, whose prices are the products' where they have none. */
export const variants = definePart({
  needs: [images],
  create: (all) => ({ productVariants: createProductVariantsService({ ...all, imagesOf: all.images.idsOf }) }),
});

/** Images of products, which their variants show too. */
export const productImages = definePart({
  needs: [images, variants],
  create: ({ productVariants, ...all }) => ({
    productImages: createProductImagesService({ ...all, leaveOutOfVariants: productVariants.leaveOutImage }),
  }),
});
