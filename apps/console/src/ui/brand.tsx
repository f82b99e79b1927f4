import type { Settings } from '../settings.js';

/** The page's name, logo and color: Tandem's until the server has said another. */
let brand: Settings['brand'] = { name: 'Tandem' };

export const brandName = (): string => brand.name;

/** Applies a host's own brand, before anything is drawn. */
export function applyBrand(given: Settings['brand']): void {
  brand = given;
  if (given.color !== undefined) document.documentElement.style.setProperty('--brand', given.color);
}

/** The sign beside a page's name. */
export function Logo() {
  return <img src={brand.logoUrl ?? new URL('../icon.svg', import.meta.url).href} alt="" height="28" />;
}

/** The logo and the name. */
export function Brand() {
  return (
    <>
      <Logo /> <span className="brand-name">{brand.name}</span>
    </>
  );
}
