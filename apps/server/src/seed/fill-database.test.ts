import { PASSWORD, fixture, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { fillDatabase } from './fill-database.js';
import { createMovableClock } from './movable-clock.js';
import type { Upload } from './upload.js';

const DAY_MS = 24 * 60 * 60_000;
const SVG = 'image/svg+xml';

const clock = createMovableClock();
const app = fixture(() => startTestServer({ clock: { ...clock, advance() {} } }));

interface Rows<Row> {
  total: number;
  value: Row[];
}
interface Picture {
  type: string;
  url: string;
}
type Named = { id: string; name: string };

let admin: Person;
let made: Awaited<ReturnType<typeof fillDatabase>>;
let started: number;

const upload: Upload = async ({ url }, type, content) => {
  const body = new Uint8Array(content);
  expect((await fetch(url, { method: 'PUT', body, headers: { 'content-type': type } })).status).toBe(200);
};
const fill = () => fillDatabase({ tandem: app.tandem, clock, password: PASSWORD, upload });

beforeAll(async () => {
  started = Date.now();
  made = await fill();
  admin = await app.signIn('admin@example.org');
}, 400_000);

const rows = <Row = Record<string, unknown>>(path: string, of: Person = admin) =>
  of.rest('GET', `${path}${path.includes('?') ? '&' : '?'}$top=100`).expect<Rows<Row>>(200);
const apply = <Row>(path: string, chain: string) =>
  admin.rest('GET', `${path}?$apply=${encodeURIComponent(chain)}`).expect<Rows<Row>>(200);

/** The organization of this name. */
async function organization(name: string): Promise<string> {
  const { value } = await rows<Named>(`/organizations?name=${encodeURIComponent(name)}`);
  return value[0]?.id ?? '';
}

/** Expects a picture that any browser shows. */
async function expectPicture({ url, type }: Partial<Picture> = {}): Promise<void> {
  expect(type).toBe(SVG);
  const answer = await fetch(url ?? '');
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, SVG]);
  const text = await answer.text();
  expect(text).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" .*<\/svg>$/s);
  // the policy that files are served with allows neither, nor is anything loaded from elsewhere
  expect(text).not.toMatch(/style|script|href|NaN|undefined/);
}

describe('the demonstration data', () => {
  it('are counted', () => {
    const { people, ...counts } = made;
    expect(people).toHaveLength(26);
    expect(counts).toMatchObject({ organizations: 11, products: 62, orders: 560 });
  });

  it('have a profile with a picture for everybody', async () => {
    const { value } = await rows<{ name: string; avatar: Picture | null }>('/profiles');
    expect(value).toHaveLength(26);
    for (const { avatar } of value) await expectPicture(avatar ?? {});
    const ada = await app.signIn('ada@example.org');
    expect(await ada.rest('GET', `/people/${ada.id}`).expect(200)).toMatchObject({ name: 'Ada Lindqvist' });
    const follows = await rows('/profiles?name=Ada Lindqvist').then(({ value: [own] }) => rows(`/profiles/${String(own?.['id'])}/profile-follows`)); // prettier-ignore
    expect(follows.total).toBeGreaterThan(0);
  });

  it('have organizations on four levels, with logos, addresses, members of all roles and followers', async () => {
    const { value } = await rows<Named & { logo: Picture; ancestors: string[]; address: object }>('/organizations');
    expect(value).toHaveLength(11);
    expect(Math.max(...value.map(({ ancestors }) => ancestors.length))).toBe(3);
    for (const { logo, address } of value) {
      await expectPicture(logo);
      expect(address).toHaveProperty('city');
    }
    const members = await rows<{ role: string }>(`/organizations/${await organization('Mill Street Bakery')}/members`);
    expect(new Set(members.value.map(({ role }) => role))).toEqual(new Set(['owner', 'admin', 'member']));
    const followers = await rows(`/organizations/${await organization('Harbour Cycles')}/followers`);
    expect(followers.total).toBeGreaterThan(2);
  });

  it('have invitations that are open, over and accepted', async () => {
    for (const [status, count] of Object.entries({ pending: 6, expired: 2, accepted: 1 }))
      expect((await rows(`/invitations?status=${status}`)).total, status).toBe(count);
  });

  it('have requests of changes that wait, were approved and rejected, with certificates', async () => {
    const of = async (name: string) =>
      rows<{ status: string; certificateImage: Picture | null }>(`/organizations/${await organization(name)}/change-requests`);
    const bakery = await of('Mill Street Bakery');
    expect(bakery.value.map(({ status }) => status)).toEqual(['pending', 'approved']);
    const certificate = await fetch(bakery.value[0]?.certificateImage?.url ?? '');
    expect(await certificate.text()).toMatch(/^%PDF-1\.4[^]*Mill Street Bakery[^]*%%EOF\n$/);
    expect((await of('Harbour Cycles')).value).toMatchObject([{ status: 'rejected' }]);
  });

  it('have products with pictures, variants that look different, categories and groups of attributes', async () => {
    const products = await rows<Named & { images: Picture[] }>('/products?$expand=categories,attributes');
    expect(products.total).toBe(62);
    for (const { images } of products.value) for (const image of images) await expectPicture(image);
    const [pot] = (await rows<Named & { attributes: object[]; categories: { name: string; parent: string }[] }>('/products?name=Round teapot&$expand=categories,attributes')).value; // prettier-ignore
    expect(pot?.attributes).toMatchObject([{ name: 'Care of pottery' }]);
    expect(pot?.categories).toMatchObject([{ name: 'Teapots', parent: expect.any(String) }]);
    const variants = await rows<{ title: string; sku: string; imageIds: string[] }>(`/products/${pot?.id}/variants`);
    expect(new Set(variants.value.flatMap(({ imageIds }) => imageIds)).size).toBe(3);
    const categories = await rows<{ parent: string | null; status: string }>('/categories');
    expect(categories.value.filter(({ parent }) => parent === null)).toHaveLength(5);
    expect(categories.value.filter(({ status }) => status === 'inactive')).toHaveLength(1);
    const likes = await Promise.all(products.value.slice(0, 20).map(({ id }) => rows(`/products/${id}/likers`)));
    expect(likes.filter(({ total }) => total > 0).length).toBeGreaterThan(10);
    expect((await rows('/message-templates')).total).toBe(9);
  });

  it('have a tree of places, from continents down to rooms', async () => {
    const { value } = await rows<{ type: string; ancestors: string[] }>('/locations');
    expect(new Set(value.map(({ type }) => type))).toEqual(new Set(['REGION', 'CITY', 'BUILDING', 'ORGANIZATION']));
    expect(Math.max(...value.map(({ ancestors }) => ancestors.length))).toBe(4);
  });

  it('have a year of orders in all states, of many buyers and three currencies, with a rhythm and more and more of them', async () => {
    const states = await apply<{ status: string; n: number }>('/orders', 'groupby((status), aggregate($count as n))');
    expect(states.value.map(({ status }) => status).toSorted()).toEqual([
      'cancelled',
      'confirmed',
      'delivered',
      'pending',
      'shipped',
    ]);
    const sold = await apply<{ currency: string }>('/orders', 'groupby((currency), aggregate(total with sum as revenue))');
    expect(sold.value.map(({ currency }) => currency).toSorted()).toEqual(['EUR', 'GBP', 'USD']);
    expect((await apply('/orders', 'groupby((identityId), aggregate($count as n))')).total).toBe(12);

    const bakery = await organization('Mill Street Bakery');
    const times: Date[] = [];
    const history: number[] = [];
    let next: string | undefined;
    do {
      const page = await admin
        .rest(
          'GET',
          `/orders/organizations/${bakery}?$top=100&$nextToken=${encodeURIComponent(next ?? '')}`.replace(/&\$nextToken=$/, ''),
        )
        .expect<Rows<{ createdAt: string; history: { at: string }[] }> & { nextToken?: string }>(200);
      times.push(...page.value.map(({ createdAt }) => new Date(createdAt)));
      history.push(...page.value.flatMap((order) => order.history.map(({ at }) => Date.parse(at))));
      next = page.nextToken;
    } while (next);
    expect(times).toHaveLength(250);
    const since = (days: number) => times.filter((at) => at.getTime() > started - days * DAY_MS).length;
    expect(since(175)).toBeGreaterThan(1.4 * (since(350) - since(175)));
    expect(started - Math.min(...times.map(Number))).toBeGreaterThan(325 * DAY_MS);
    expect(Math.max(...history)).toBeLessThanOrEqual(Date.now());
    const onDay = (day: number) => times.filter((at) => at.getUTCDay() === day).length;
    expect(onDay(6)).toBeGreaterThan(2 * onDay(3));
    // the ovens are cold on Mondays
    expect(onDay(1)).toBeLessThan(5);
  });

  it('tell buyers of their orders, the last of them unread', async () => {
    const ada = await app.signIn('ada@example.org');
    const list = await rows<{ isRead: boolean; kind: string }>(`/notifications/identities/${ada.id}`, ada);
    expect(list.total).toBeGreaterThan(10);
    const orders = list.value.filter(({ kind }) => kind === 'order').map(({ isRead }) => isRead);
    expect(orders.slice(0, 5)).toEqual([false, false, false, false, true]);
  });
});

describe('the channels of the demonstration data', () => {
  interface Message {
    id: string;
    seq: number;
    content: string;
    replyToId: string | null;
    replyCount: number;
    mentions: string[];
    attachments: Picture[];
    reactions: { key: string; count: number }[];
    createdAt: string;
  }
  let martha: Person;
  let channels: (Named & { direct: boolean; unread: number; icon: Picture | null; open: boolean; lastMessage: Message })[];
  const channelId = (name: string) => channels.find((channel) => channel.name === name)?.id ?? '';
  const messages = (name: string) => rows<Message>(`/messages?channelId=${channelId(name)}`, martha);

  beforeAll(async () => {
    martha = await app.signIn('martha@example.org');
    channels = (await rows<(typeof channels)[number]>(`/channels?memberId=${martha.id}`, martha)).value;
  });

  it('have icons, are open, closed and direct, and some have unread lines', async () => {
    for (const { direct, icon } of channels) if (!direct) await expectPicture(icon ?? {});
    expect(new Set(channels.map(({ open, direct }) => `${open} ${direct}`)).size).toBe(3);
    const ada = await app.signIn('ada@example.org');
    const own = await rows<(typeof channels)[number]>(`/channels?memberId=${ada.id}`, ada);
    expect(own.value.filter(({ unread }) => unread > 0).length).toBeGreaterThan(2);
    const lines = own.value.map(({ lastMessage }) => lastMessage);
    for (const { createdAt } of lines) expect(Date.parse(createdAt)).toBeLessThan(Date.now());
    expect(lines.map(({ content }) => content)).toContain('Is there parking nearby?');
  });

  it('have replies, reactions, mentions, pictures, and messages that were edited, deleted and pinned', async () => {
    const { value } = await messages('Mill Street Bakery: team');
    expect(value.some(({ replyToId }) => replyToId !== null)).toBe(true);
    expect(value.some(({ replyCount }) => replyCount > 2)).toBe(true);
    expect(value.some(({ mentions }) => mentions.length > 0)).toBe(true);
    expect(value.some(({ reactions }) => reactions.some(({ count }) => count > 2))).toBe(true);
    for (const { attachments } of value) for (const attachment of attachments) await expectPicture(attachment);
    const edited = value.find(({ content }) => content === 'The old town sold out by eleven.');
    const versions = await rows<{ content: string }>(`/messages/${edited?.id}/versions`, martha);
    expect(versions.value).toMatchObject([{ content: 'The old town sold out by ten.' }]);
    expect(value.map(({ content }) => content)).not.toContain('wrong channel, sorry');
    // in the order of their times
    const times = value.toSorted((one, other) => one.seq - other.seq).map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted());
    expect((await rows(`/channels/${channelId('Mill Street Bakery: team')}/pins`, martha)).total).toBe(1);
  });

  it('have moderators, somebody who is muted and somebody who is banned, and reports', async () => {
    const members = await rows<{ role: string; mutedUntil: string | null }>(`/subscriptions?channelId=${channelId('Mill Street Bakery')}`, martha); // prettier-ignore
    expect(members.value.filter(({ role }) => role === 'moderator')).toHaveLength(1);
    expect(members.value.filter(({ mutedUntil }) => mutedUntil !== null)).toHaveLength(1);
    const oscar = await app.signIn('oscar@example.org');
    const [cycles] = (await rows<Named>(`/channels?memberId=${oscar.id}&name=Harbour Cycles`, oscar)).value;
    expect((await rows(`/channels/${cycles?.id}/bans`, oscar)).total).toBe(1);
    const reports = await rows<{ status: string }>('/reports');
    expect(reports.value.map(({ status }) => status).toSorted()).toEqual(['dismissed', 'open']);
  });
});

describe('the programs of the demonstration data', () => {
  it('are service accounts with keys that nobody knows, and webhooks to nobody', async () => {
    const bakery = await organization('Mill Street Bakery');
    const accounts = await rows<Named>(`/organizations/${bakery}/service-accounts`);
    expect(accounts.value).toMatchObject([{ name: 'Cash register' }]);
    const keys = await rows(`/auth/${accounts.value[0]?.id}/keys`);
    expect(keys.value).toMatchObject([{ name: 'Cash register', lastUsedAt: null }]);
    const webhooks = await rows<{ url: string }>('/webhooks');
    expect(webhooks.value).toHaveLength(3);
    for (const { url } of webhooks.value) expect(url).toMatch(/^https:\/\/hooks\.example\.org\//);
  });

  it('and sign-ins are in the record of security events', async () => {
    const events = await rows<{ type: string }>('/auth/events');
    const types = new Set(events.value.map(({ type }) => type));
    expect([...types]).toEqual(expect.arrayContaining(['login.succeeded', 'login.failed', 'key.created']));
    const helena = await app.signIn('helena@example.org');
    expect((await rows(`/auth/${helena.id}/sessions`, helena)).total).toBeGreaterThan(1);
  });
});

it('a database that has organizations is not filled again', async () => {
  await expect(fill()).rejects.toThrow('the database already has organizations: only an empty one can be filled');
});
