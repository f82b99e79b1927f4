import { RANGES, type Range, type ShopKey } from './data/catalogue.js';
import { ORGANIZATIONS } from './data/organizations.js';
import { CUSTOMERS, PEOPLE, type Who } from './data/people.js';
import { createDice, type Dice } from './dice.js';
import type { Good, Goods } from './fill-catalogue.js';
import type { Organizations } from './fill-organizations.js';
import type { People } from './fill-people.js';
import { DAY_MS, HOUR_MS, forEach, type Seeding } from './seeding.js';

const DAYS = 350;
/** Buyers are told of the latest of a shop's orders; all but the last notifications are read. */
const TOLD_PART = 0.5;
const UNREAD = 4;
/** How far the latest orders of a shop are: the last ones wait, those before are confirmed, then on their way. */
const LATEST = { pending: 3, confirmed: 3, shipped: 3 } as const;
const STEPS = ['confirmed', 'shipped', 'delivered'] as const;
type Step = (typeof STEPS)[number] | 'cancelled';

/** An order, and what becomes of it. */
interface PlannedOrder {
  shop: ShopKey;
  at: Date;
  buyer: Who;
  items: { productId: string; variantId?: string; quantity: number }[];
  metadata: { channel: string };
  steps: readonly { step: Step; at: Date }[];
  isCancelledByShop: boolean;
  isTold: boolean;
}

/** A notification that somebody got. */
interface Told {
  id: string;
  receiverId: string;
  at: Date;
}

/** The days of a shop's orders: more in busy months and on busy days, and more and more. */
function daysOf({ orders, week, months, growth }: Range, now: Date): Date[] {
  const days = Array.from({ length: DAYS }, (_, at) => new Date(now.getTime() - (DAYS - 1 - at) * DAY_MS));
  const weights = days.map(
    (day, at) => (week[day.getUTCDay()] ?? 1) * (months[day.getUTCMonth()] ?? 1) * (1 + ((growth - 1) * at) / DAYS),
  );
  const sum = weights.reduce((before, weight) => before + weight, 0);
  let [at, reached] = [0, weights[0] ?? 0];
  return Array.from({ length: orders }, (_, order) => {
    while (reached < (sum * (order + 0.5)) / orders) reached += weights[++at] ?? sum;
    return days[Math.min(at, DAYS - 1)] as Date;
  });
}

/** What becomes of the order that comes this many before the last. */
function stepsOf(before: number, dice: Dice): Step[] {
  const { pending, confirmed, shipped } = LATEST;
  const [isCancelled, isLate] = [dice.below(13) === 0, dice.below(2) === 0];
  if (before < pending) return [];
  if (isCancelled) return isLate ? ['confirmed', 'cancelled'] : ['cancelled'];
  if (before < pending + confirmed) return STEPS.slice(0, 1);
  return STEPS.slice(0, before < pending + confirmed + shipped ? 2 : 3);
}

function planned(shop: ShopKey, goods: readonly Good[], now: Date): PlannedOrder[] {
  const range: Range = RANGES[shop];
  const dice = createDice(20_240_229 + range.orders);
  return daysOf(range, now).map((day, order, { length }) => {
    const midnight = new Date(day).setUTCHours(0, 0, 0, 0);
    // most come around noon, fewer in the morning and in the evening
    const at = Math.min(midnight + (7 + dice.below(7) + dice.below(8)) * HOUR_MS + dice.below(3600) * 1000, now.getTime() - (length - order) * 1000 * 60); // prettier-ignore
    const known = CUSTOMERS.filter(
      (who) => now.getTime() - ((PEOPLE[who] as { joined?: number }).joined ?? DAYS + 1) * DAY_MS < at,
    );
    // some buy more than others: the smaller of two numbers
    const buyer = known[Math.min(dice.below(known.length), dice.below(known.length))] ?? 'ada';
    const chosen = dice.some(goods, 1 + Math.min(dice.below(4), dice.below(4)));
    const items = chosen.map(({ productId, variantIds }) => ({
      productId,
      ...(variantIds.length > 0 && { variantId: dice.pick(variantIds) }),
      quantity: 1 + Math.min(dice.below(range.pieces), dice.below(range.pieces)),
    }));
    const steps = stepsOf(length - 1 - order, dice);
    const waits = steps.map(() => HOUR_MS * (2 + dice.below(40)));
    const natural = waits.reduce((sum, wait) => sum + wait, 0);
    // the last ones are in a hurry
    const pace = Math.min(1, ((now.getTime() - at) * 0.9) / Math.max(natural, 1));
    let reached = at;
    return {
      shop,
      at: new Date(at),
      buyer,
      items,
      metadata: { channel: dice.pick(['web', 'web', 'web', 'phone', 'counter']) },
      steps: steps.map((step, place) => ({ step, at: new Date((reached += (waits[place] ?? 0) * pace)) })),
      isCancelledByShop: steps.length > 1,
      isTold: order >= length * (1 - TOLD_PART),
    };
  });
}

/** Makes a year of orders, and tells buyers what becomes of the latest. @returns how many of each there are */
export async function fillOrders(
  seeding: Seeding,
  { people, organizations, goods }: { people: People; organizations: Organizations; goods: Goods },
): Promise<{ orders: number; notifications: number }> {
  const { services, act, now } = seeding;
  const shops = Object.keys(RANGES) as ShopKey[];
  const all = shops.flatMap((shop) => planned(shop, goods[shop], now));
  const told: Told[] = [];

  await forEach(all, async ({ shop, at, buyer, items, metadata, steps, isCancelledByShop, isTold }) => {
    const { name, owner } = ORGANIZATIONS[shop];
    const identityId = people[buyer].id;
    const customer = { identityId, isAdmin: false };
    const manager = { identityId: people[owner].id, isAdmin: false };
    const mover = (step: Step) => (step === 'cancelled' && !isCancelledByShop ? customer : manager);
    const given = { identityId, organizationId: organizations[shop], items, metadata };
    const { id } = await act(identityId, at, () => services.orders.create(given, customer));
    for (const { step, at: then } of steps)
      await act(mover(step).identityId, then, async () => {
        await services.orders.patch(id, { status: step }, mover(step));
        if (!isTold || mover(step) === customer) return;
        const said = { kind: 'order', title: `${name}: your order was ${step}`, orderId: id };
        const { id: notificationId } = await services.notifications.notify(identityId, said);
        told.push({ id: notificationId, receiverId: identityId, at: then });
      });
  });
  await readOldOnes(seeding, told);
  return { orders: all.length, notifications: told.length };
}

async function readOldOnes({ services }: Seeding, told: readonly Told[]): Promise<void> {
  const receivers = [...new Set(told.map(({ receiverId }) => receiverId))];
  await forEach(receivers, async (receiverId) => {
    const own = told
      .filter((one) => one.receiverId === receiverId)
      .toSorted((one, other) => other.at.getTime() - one.at.getTime());
    const anchor = own[UNREAD];
    if (anchor) await services.notifications.markReadUpTo(receiverId, anchor.id);
  });
}
