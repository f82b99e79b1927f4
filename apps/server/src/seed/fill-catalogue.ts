import { ATTRIBUTES, RANGES, TEMPLATES, type Range, type ShopKey } from './data/catalogue.js';
import type { Item } from './data/goods.js';
import { ORGANIZATIONS } from './data/organizations.js';
import { PLACES, type Place } from './data/places.js';
import { draw, staged, type Painter } from './drawings/canvas.js';
import type { Organizations } from './fill-organizations.js';
import type { People } from './fill-people.js';
import { MINUTE_MS, ago, forEach, picture, uploaded, type Seeding } from './seeding.js';

/** What can be ordered of one product. */
export interface Good {
  productId: string;
  variantIds: readonly string[];
}
export type Goods = Readonly<Record<ShopKey, readonly Good[]>>;

/** Days ago that the first product was entered; each comes a while after the one before. */
const ENTERED = 355;
const BETWEEN_MINUTES = 17;
const SHOPS = Object.entries<Range>(RANGES) as [ShopKey, Range][];

/** Makes categories and groups of attributes, then the products of all shops with pictures and variants. */
export async function fillCatalogue(seeding: Seeding, organizations: Organizations, people: People): Promise<Goods> {
  const { services, clock } = seeding;
  const attributeIds = new Map(
    await forEach(Object.entries(ATTRIBUTES), async ([name, values]) => {
      const items = Object.entries(values).map(([key, value]) => ({ key, value }));
      const { id } = await clock.at(ago(seeding, ENTERED + 1), () => services.attributes.create({ name, items }));
      return [name, id] as const;
    }),
  );
  let entered = 0;

  async function enter(
    given: Item,
    more: { shop: ShopKey; currency: string; categoryIds: string[]; attributeIds: string[] },
    at: number,
  ) {
    const { shop, currency, ...references } = more;
    const { name, description, price: amount, wall, looks, variants = {} } = given;
    const ownerId = people[ORGANIZATIONS[shop].owner].id;
    const when = (minutes: number) => new Date(ago(seeding, ENTERED).getTime() + (at * BETWEEN_MINUTES + minutes) * MINUTE_MS);
    const price = { amount, currency };
    const product = await clock.at(when(0), () =>
      services.products.create({ name, description, price, organizationId: organizations[shop], ...references }),
    );
    const images: [string, string][] = [];
    for (const [title, painter] of Object.entries(looks ?? { '': given.picture }))
      images.push([title, await addImage(painter, images.length)]);

    async function addImage(painter: Painter, place: number): Promise<string> {
      const content = draw(staged(painter, wall));
      const file = await uploaded(seeding, picture(content), (request) =>
        services.productImages.uploadUrl(product.id, request, ownerId),
      );
      const { id } = await clock.at(when(2 + place), () => services.productImages.add(product.id, file, ownerId));
      return id;
    }
    const code = name.replaceAll(/[^A-Za-z]/g, '').slice(0, 4).toUpperCase(); // prettier-ignore
    const sku = (title: string) =>
      `${code}-${title
        .replaceAll(/[^A-Za-z0-9]/g, '')
        .slice(0, 6)
        .toUpperCase()}`;
    const made = [
      ...Object.entries(variants).map(([title, own]) => ({ title, sku: sku(title), price: { amount: own, currency } })),
      ...(looks ? images.map(([title, imageId]) => ({ title, sku: sku(title), price, imageIds: [imageId] })) : []),
    ];
    const stored = made.length > 0 ? await clock.at(when(8), () => services.productVariants.createMany(product.id, made)) : [];
    return { productId: product.id, variantIds: stored.map(({ id }) => id) };
  }

  const goods: Partial<Record<ShopKey, Good[]>> = {};
  for (const [
    shop,
    {
      currency,
      department: [name, description],
      shelves,
    },
  ] of SHOPS) {
    // prettier-ignore
    const { id: parent } = await clock.at(ago(seeding, ENTERED + 2), () => services.categories.create({ name, description }));
    const entries: (() => Promise<Good>)[] = [];
    for (const shelf of shelves) {
      const { id } = await clock.at(ago(seeding, ENTERED + 1), () =>
        services.categories.create({ name: shelf.category, description: shelf.description, parent }),
      );
      const groups = (shelf.attributes ?? []).flatMap((group) => attributeIds.get(group) ?? []);
      for (const item of shelf.items) {
        const at = entered++;
        entries.push(() => enter(item, { shop, currency, categoryIds: [id], attributeIds: groups }, at));
      }
    }
    goods[shop] = await forEach(entries, (entry) => entry());
  }
  await clock.at(ago(seeding, 20), async () => {
    const seasonal = { name: 'Winter market', description: 'From the first Sunday of Advent on' };
    await services.categories.create({ ...seasonal, status: 'inactive' });
  });
  return goods as Goods;
}

/** Makes the tree of places: a place before those in it. */
export async function fillPlaces(seeding: Seeding, organizations: Organizations): Promise<void> {
  const { services, clock } = seeding;
  async function fill(places: readonly Place[], parentId: string | null): Promise<void> {
    for (const { name, code, type, organization, places: inside = [] } of places) {
      const metadata: Record<string, string> = organization ? { organizationId: organizations[organization] } : {};
      const { id } = await clock.at(ago(seeding, 338), () => services.locations.create({ name, code, type, parentId, metadata }));
      await fill(inside, id);
    }
  }
  await fill(PLACES, null);
}

export async function fillTemplates({ services, clock, ...seeding }: Seeding, organizations: Organizations): Promise<void> {
  await forEach(TEMPLATES, async ({ of, title, content }, at) => {
    const organizationId = of && { organizationId: organizations[of] };
    await clock.at(ago(seeding, 330 - at * 20), () => services.chat.templates.create({ title, content, ...organizationId }));
  });
}
