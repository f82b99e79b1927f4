import type { Painter } from '../drawings/canvas.js';

/** Something to sell. */
export interface Item {
  name: string;
  description: string;
  /** In whole units. */
  price: number;
  /** The hue of the wall behind it, and what stands before it. */
  wall: number;
  picture: Painter;
  /** Prices by the titles of variants. */
  variants?: Readonly<Record<string, number>>;
  /** Variants that look different, by their titles; the first is what `picture` shows. */
  looks?: Readonly<Record<string, Painter>>;
}

/** A category and what is in it. */
export interface Shelf {
  category: string;
  description: string;
  /** Names of attribute groups. */
  attributes?: readonly string[];
  items: readonly Item[];
}

export function item(
  name: string,
  description: string,
  price: number,
  wall: number,
  picture: Painter,
  variants?: Readonly<Record<string, number>>,
): Item {
  return { name, description, price, wall, picture, ...(variants && { variants }) };
}

/** Something to be had in several looks, at one price. */
export function choice(
  name: string,
  description: string,
  price: number,
  wall: number,
  looks: Readonly<Record<string, Painter>>,
): Item {
  return { name, description, price, wall, picture: Object.values(looks)[0] as Painter, looks };
}
