import type { ProductVariantsService } from '../product-variants/product-variants.service.js';
import type { StoredPrice } from '../shared/price.js';
import type { ProductsService } from './products.service.js';

/** A product, or one of its variants, to price. */
export interface PricedLine {
  productId: string;
  variantId?: string | undefined;
}

/** What a line refers to that is missing; or its price in minor units, null if neither variant nor product has one. */
export type LinePrice =
  | { missing: 'product' | 'variant' }
  | {
      missing: null;
      price: StoredPrice | null;
      /** Whether the price is the variant's or the product's. */
      source: 'variant' | 'product';
      /** The product's organization; null if it has none. */
      organizationId: string | null;
      name: string;
      variantTitle: string | null;
    };

/**
 * Looks up prices for orders: the variant's, else the product's (decisions R5). Live records only; two queries for any number of
 * lines.
 */
export function createPriceLines(
  products: Pick<ProductsService, 'pricesOf'>,
  variants: Pick<ProductVariantsService, 'pricesOf'>,
): (lines: readonly PricedLine[]) => Promise<LinePrice[]> {
  return async function priceOf(lines) {
    const [ofProducts, ofVariants] = await Promise.all([
      products.pricesOf([...new Set(lines.map(({ productId }) => productId))]),
      variants.pricesOf([...new Set(lines.flatMap(({ variantId }) => variantId ?? []))]),
    ]);
    return lines.map(({ productId, variantId }) => {
      const product = ofProducts.get(productId);
      if (!product) return { missing: 'product' };
      const { name, organizationId } = product;
      const ofProduct = {
        missing: null,
        price: product.price,
        source: 'product',
        organizationId,
        name,
        variantTitle: null,
      } as const;
      if (variantId === undefined) return ofProduct;
      const variant = ofVariants.get(variantId);
      if (variant?.productId !== productId) return { missing: 'variant' };
      const { price, title: variantTitle } = variant;
      return price ? { ...ofProduct, price, source: 'variant', variantTitle } : { ...ofProduct, variantTitle };
    });
  };
}
