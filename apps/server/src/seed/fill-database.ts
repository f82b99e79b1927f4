import type { Tandem } from '@tandem/services';
import { CommandError } from '../commands/command-error.js';
import { fillChannels, type ShopTeam } from './fill-channels.js';
import type { MovableClock } from './movable-clock.js';
import { paintPicture } from './picture.js';
import { CUSTOMERS, DOMAIN, SHOPS, type Shop } from './sample-data.js';
import type { Upload } from './upload.js';

const DAY_MS = 24 * 60 * 60_000;
const HOUR_MS = DAY_MS / 24;
const DAYS = 365;
const ORDERS = 240;
/** Per shop, for the colours of their images. */
const GOODS = 20;

interface Seeded {
  people: { email: string; is: string }[];
  products: number;
  orders: number;
  notifications: number;
  messages: number;
}

/** The staff and goods of a shop: ids, variants included. */
interface Assortment extends ShopTeam {
  organizationId: string;
  goods: { productId: string; variantIds: string[] }[];
}

/**
 * Pseudo-random numbers from 0 to 1, the same at each run, so that everybody gets the same data (a linear congruential
 * generator).
 */
function createDice(): { below(limit: number): number; pick<T>(from: readonly T[]): T } {
  let state = 20_240_229;
  const next = () => (state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32) / 2 ** 32;
  const below = (limit: number) => Math.floor(next() * limit);
  return { below, pick: (from) => from[below(from.length)] as (typeof from)[number] };
}

/**
 * Fills a database without organizations.
 * @throws CommandError when it has any; service errors for an unacceptable password
 */
export async function fillDatabase(options: {
  tandem: Tandem;
  clock: MovableClock;
  password: string;
  upload: Upload;
}): Promise<Seeded> {
  const { tandem, clock, password, upload } = options;
  const { services } = tandem;
  const now = clock.now();
  if (await services.organizations.hasAny())
    throw new CommandError('the database already has organizations: only an empty one can be filled');
  const dice = createDice();
  const people: Seeded['people'] = [];
  clock.set(new Date(now.getTime() - DAYS * DAY_MS));

  async function join(name: string, is: string): Promise<string> {
    const email = `${name}@${DOMAIN}`;
    const { id } = await services.authentication.register({ email, password }, { ip: '', userAgent: '' });
    await services.profiles.create({ identityId: id, name: name.slice(0, 1).toUpperCase() + name.slice(1) }, id);
    people.push({ email, is });
    return id;
  }

  async function addImage(productId: string, hue: number, identityId: string): Promise<void> {
    const content = paintPicture(hue);
    const type = 'image/png';
    const request = { contentType: type, contentLength: content.length };
    const { objectId, url } = await services.productImages.uploadUrl(productId, request, identityId);
    await upload({ objectId, url }, type, content);
    await services.productImages.add(productId, { objectId, type }, identityId);
  }

  async function open(shop: Shop): Promise<Assortment> {
    const { name, description, contact_email, contact_phone, currency } = shop;
    const ownerId = await join(shop.owner, `owner of ${name}`);
    const { id: organizationId } = await services.organizations.create(
      { name, description, contact_email, contact_phone },
      ownerId,
      ownerId,
    );
    const staff: { identityId: string; role: 'member' }[] = [];
    for (const one of shop.staff) staff.push({ identityId: await join(one, `member of ${name}`), role: 'member' });
    await services.members.upsert(organizationId, staff, { identityId: ownerId, isAdmin: false });
    const goods: Assortment['goods'] = [];
    for (const shelf of shop.shelves) {
      const category = await services.categories.create({
        name: shelf.category,
        description: shelf.description,
        status: 'active',
      });
      for (const [productName, text, amount, variants = {}] of shelf.products) {
        const product = await services.products.create({
          name: productName,
          description: text,
          price: { amount, currency },
          organizationId,
          categoryIds: [category.id],
        });
        const given = Object.entries(variants).map(([title, price]) => ({ title, price: { amount: price, currency } }));
        const made = given.length > 0 ? await services.productVariants.createMany(product.id, given) : [];
        await addImage(product.id, goods.length / GOODS, ownerId);
        goods.push({ productId: product.id, variantIds: made.map(({ id }) => id) });
      }
    }
    return { name, organizationId, ownerId, staffIds: staff.map(({ identityId }) => identityId), goods };
  }

  const adminEmail = `admin@${DOMAIN}`;
  await services.authentication.createAdmin({ email: adminEmail, password });
  people.push({ email: adminEmail, is: 'admin' });
  const shops: Assortment[] = [];
  for (const shop of SHOPS) shops.push(await open(shop));
  const customers: string[] = [];
  for (const name of CUSTOMERS) customers.push(await join(name, 'customer'));

  let notifications = 0;
  for (let n = 0; n < ORDERS; n++) {
    // more towards the end: the shops grow
    const age = DAYS * DAY_MS * (1 - Math.sqrt((n + 1) / (ORDERS + 1)));
    const placedAt = now.getTime() - age;
    clock.set(new Date(placedAt));
    const buyerId = dice.pick(customers);
    const { organizationId, ownerId, goods } = dice.pick(shops);
    const items = Array.from({ length: 1 + dice.below(4) }, () => {
      const { productId, variantIds } = dice.pick(goods);
      return { productId, ...(variantIds.length > 0 && { variantId: dice.pick(variantIds) }), quantity: 1 + dice.below(3) };
    });
    const buyer = { identityId: buyerId, isAdmin: false };
    const manager = { identityId: ownerId, isAdmin: false };
    const { id } = await services.orders.create({ identityId: buyerId, organizationId, items }, buyer);
    const says = async (text: string) => {
      await services.notifications.notify(buyerId, { title: text, orderId: id });
      notifications++;
    };
    const isCancelled = dice.below(12) === 0;
    const steps = isCancelled ? (['cancelled'] as const) : (['confirmed', 'shipped', 'delivered'] as const);
    let at = placedAt;
    for (const status of steps) {
      at += HOUR_MS * (2 + dice.below(40));
      if (at > now.getTime()) break;
      clock.set(new Date(at));
      await services.orders.patch(id, { status }, isCancelled ? buyer : manager);
      if (!isCancelled) await says(`Your order was ${status}`);
    }
  }
  clock.set(now);
  const messages = await fillChannels(services, { clock, shops, customers });
  return { people, products: shops.flatMap(({ goods }) => goods).length, orders: ORDERS, notifications, messages };
}
