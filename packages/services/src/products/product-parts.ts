import { createProductVariantsService } from '../product-variants/product-variants.service.js';
import { definePart } from '../shared/define-service.js';
import { createProductImagesService } from './product-images.service.js';
import { IMAGES_MAX } from './products.schemas.js';

/** Images of products, which their variants show too. */
export const productImages = definePart({
  create({ storage, files, productExists }) {
    const images = files.attachments({ purpose: 'product-image', max: IMAGES_MAX });
    return { images, productImages: createProductImagesService({ storage, images, productExists }) };
  },
});

/** Variants, whose prices are the products' where they have none. */
export const variants = definePart({
  needs: [productImages],
  create: (all) => ({ productVariants: createProductVariantsService({ ...all, imagesOf: all.images.idsOf }) }),
});
