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
  const { services, act } = seeding;
  const adminId = people.admin.id;
  const attributeIds = new Map(
    await forEach(Object.entries(ATTRIBUTES), async ([name, values]) => {
      const items = Object.entries(values).map(([key, value]) => ({ key, value }));
      const { id } = await act(adminId, ago(seeding, ENTERED + 1), () => services.attributes.create({ name, items }));
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
    const product = await act(ownerId, when(0), () =>
      services.products.create({ name, description, price, organizationId: organizations[shop], ...references }),
    );
    const images: [string, string][] = [];
    for (const [title, painter] of Object.entries(looks ?? { '': given.picture }))
      images.push([title, await addImage(painter, images.length)]);

    async function addImage(painter: Painter, place: number): Promise<string> {
      const content = draw(staged(painter, wall));
      const file = await uploaded(seeding, ownerId, picture(content), (request) =>
        services.productImages.uploadUrl(product.id, request, ownerId),
      );
      const { id } = await act(ownerId, when(2 + place), () => services.productImages.add(product.id, file, ownerId));
      return id;
    }
    const sku = (title: string) => [name, title].map((text) => text.replaceAll(/\W/g, '').slice(0, 5).toUpperCase()).join('-');
    const made = [
      ...Object.entries(variants).map(([title, own]) => ({ title, sku: sku(title), price: { amount: own, currency } })),
      ...(looks ? images.map(([title, imageId]) => ({ title, sku: sku(title), price, imageIds: [imageId] })) : []),
    ];
    const stored =
      made.length > 0 ? await act(ownerId, when(8), () => services.productVariants.createMany(product.id, made)) : [];
    return { productId: product.id, variantIds: stored.map(({ id }) => id) };
  }

  const goods: Partial<Record<ShopKey, Good[]>> = {};
  for (const [shop, { currency, department, shelves }] of SHOPS) {
    const [name, description] = department;
    const { id: parent } = await act(adminId, ago(seeding, ENTERED + 2), () => services.categories.create({ name, description }));
    const entries: (() => Promise<Good>)[] = [];
    for (const shelf of shelves) {
      const { id } = await act(adminId, ago(seeding, ENTERED + 1), () =>
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
  await act(adminId, ago(seeding, 20), async () => {
    const seasonal = { name: 'Winter market', description: 'From the first Sunday of Advent on' };
    await services.categories.create({ ...seasonal, status: 'inactive' });
  });
  return goods as Goods;
}

/** Makes the tree of places: a place before those in it. */
export async function fillPlaces(seeding: Seeding, organizations: Organizations, people: People): Promise<void> {
  const { services, act } = seeding;
  async function fill(places: readonly Place[], parentId: string | null): Promise<void> {
    for (const { name, code, type, organization, places: inside = [] } of places) {
      const metadata: Record<string, string> = organization ? { organizationId: organizations[organization] } : {};
      const { id } = await act(people.admin.id, ago(seeding, 338), () =>
        services.locations.create({ name, code, type, parentId, metadata }),
      );
      await fill(inside, id);
    }
  }
  await fill(PLACES, null);
}

/** Makes texts to answer with: an admin those for all, the owners of shops theirs. */
export async function fillTemplates(seeding: Seeding, organizations: Organizations, people: People): Promise<void> {
  const { services, act } = seeding;
  await forEach(TEMPLATES, async ({ of, title, content }, at) => {
    const organizationId = of && { organizationId: organizations[of] };
    const authorId = people[of ? ORGANIZATIONS[of].owner : 'admin'].id;
    await act(authorId, ago(seeding, 330 - at * 20), () => services.chat.templates.create({ title, content, ...organizationId }));
  });
}
