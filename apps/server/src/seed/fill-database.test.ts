import { PASSWORD, fixture, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { fillDatabase } from './fill-database.js';
import type { MovableClock } from './movable-clock.js';
import type { Upload } from './upload.js';

const YEAR_MS = 365 * 24 * 60 * 60_000;

const app = fixture(startTestServer);

interface Slice<Row> {
  total: number;
  value: Row[];
}
interface SeededOrder {
  createdAt: string;
  total: number;
  history: { at: string }[];
}

it('fills an empty database with a year of demonstration data, once', async () => {
  const clock: MovableClock = {
    now: () => app.clock.now(),
    set: (at) => app.clock.advance(at.getTime() - app.clock.now().getTime()),
  };
  const now = clock.now();
  const upload: Upload = async ({ url }, type, content) => {
    const body = new Uint8Array(content);
    expect((await fetch(url, { method: 'PUT', body, headers: { 'content-type': type } })).status).toBe(200);
  };
  const made = await fillDatabase({ tandem: app.tandem, clock, password: PASSWORD, upload });
  expect(made).toMatchObject({ products: 40, orders: 240, messages: 26 });
  const end = clock.now();
  expect(end.getTime()).toBeGreaterThanOrEqual(now.getTime());

  const admin = await app.signIn('admin@example.org');
  const shops = await admin.rest('GET', '/organizations').expect<{ data: { id: string }[] }>(200);
  expect(shops.data).toHaveLength(2);
  const products = await app.rest('GET', '/products?$top=100').expect<Slice<{ images: { url: string }[] }>>(200);
  expect(products.total).toBe(40);
  const image = await fetch(products.value[0]?.images[0]?.url ?? '');
  expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png']);

  const ofYear = await admin.rest('GET', '/orders?$top=100&$orderby=createdAt').expect<Slice<SeededOrder>>(200);
  expect(ofYear.total).toBe(240);
  const [first] = ofYear.value;
  expect(now.getTime() - Date.parse(first?.createdAt ?? '')).toBeGreaterThan(YEAR_MS / 2);
  const times = ofYear.value.flatMap(({ history }) => history.map(({ at }) => Date.parse(at)));
  expect(Math.max(...times)).toBeLessThanOrEqual(end.getTime());

  const revenue = "filter(status eq 'delivered') then groupby((currency), aggregate(total with sum as revenue))";
  const { value } = await admin
    .rest('GET', `/orders?$apply=${encodeURIComponent(revenue)}`)
    .expect<Slice<{ currency: string; revenue: number }>>(200);
  expect(value.map(({ currency }) => currency).toSorted()).toEqual(['EUR', 'USD']);
  expect(value.every((row) => row.revenue > 100)).toBe(true);

  const ada = await app.signIn('ada@example.org');
  expect(await ada.rest('GET', `/people/${ada.id}`).expect(200)).toMatchObject({ name: 'Ada' });
  const told = await ada
    .rest('GET', `/notifications/identities/${ada.id}`)
    .expect<{ metadata: { pagination: { total: number } } }>(200);
  expect(told.metadata.pagination.total).toBeGreaterThan(10);

  const channels = await ada
    .rest('GET', `/channels?memberId=${ada.id}`)
    .expect<{ data: { name: string; unread: number; lastMessage: { createdAt: string; content: string } }[] }>(200);
  expect(channels.data.map(({ unread, lastMessage }) => [unread, lastMessage.content])).toEqual([
    [1, 'Is there parking nearby?'],
    [1, 'Is there parking nearby?'],
  ]);
  for (const { lastMessage } of channels.data) expect(Date.parse(lastMessage.createdAt)).toBeLessThan(end.getTime());

  const again = fillDatabase({ tandem: app.tandem, clock, password: PASSWORD, upload });
  await expect(again).rejects.toThrow('the database already has organizations: only an empty one can be filled');
});
