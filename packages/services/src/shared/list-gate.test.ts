import { FACES, fixture, startTestServer, type Face, type Outcome } from '@tandem/testing';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { notificationModel } from '../notifications/notification.model.js';
import { productModel } from '../products/product.model.js';

const ROWS = 5000;
const STORM = 12;
/** Takes the store some hundred milliseconds. */
const GROUPS = 'groupby((name,description,createdAt,updatedAt)) then orderby(description desc,name) then top(100000)';
const COSTLY = `orderby(description) then top(100000) then ${Array.from({ length: 2 }, () => GROUPS).join(' then ')}`;

/** What the driver tells of a command. */
interface Told {
  requestId: number;
  commandName: string;
  command?: Record<string, unknown>;
  failure?: { name: string };
}

/** Reads of products that have not ended, and the most there were at once. */
const underWay = new Set<number>();
let most = 0;
let failures: string[] = [];
/** Told of the next read of products. */
let started = (): void => undefined;

const home = fixture(startTestServer);
/** Another instance, whose commands are watched. */
const app = fixture(() =>
  startTestServer({
    mongodbUri: `${home.mongodbUri}${home.mongodbUri.includes('?') ? '&' : '?'}monitorCommands=true`,
    trustProxy: 1,
  }),
);
beforeAll(async () => {
  const createdAt = app.clock.now();
  const products = Array.from({ length: ROWS }, (_, n) => ({
    _id: `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`,
    name: `Loaf ${(n * 7919) % ROWS}`,
    description: `${'x'.repeat(200)}${(n * 104_729) % ROWS}`,
    price: null,
    createdAt,
    updatedAt: createdAt,
    deletedAt: null,
  }));
  await home.storage.model(productModel).collection.insertMany(products as never[]);
  const client = app.storage.model(notificationModel).db.getClient();
  client.on('commandStarted', ({ requestId, commandName, command = {} }: Told) => {
    // a job writes what searches need for rows of hosts
    if (command[commandName] !== 'products' || commandName === 'update') return;
    underWay.add(requestId);
    most = Math.max(most, underWay.size);
    started();
  });
  client.on('commandSucceeded', ({ requestId }: Told) => underWay.delete(requestId));
  client.on('commandFailed', ({ requestId, failure }: Told) => {
    if (underWay.delete(requestId)) failures.push(String(failure?.name));
  });
}, 60_000);
beforeEach(() => {
  most = 0;
  failures = [];
});

const costly = (face: Face) => app.call(face, 'products.list', { $apply: COSTLY, $top: 1 }, {});

describe.each(FACES)('over %s', (face) => {
  it(
    'what strangers of one network ask is done one after the other, and keeps nobody else from reading',
    { timeout: 60_000 },
    async () => {
      const ann = await home.signUp();
      let answered = 0;
      const storm = Array.from({ length: STORM }, () => costly(face).finally(() => (answered += 1)));
      const query = { identityId: ann.id, $filter: 'isRead eq false' };
      expect(await app.call(face, 'notifications.list', query, ann.credentials)).toMatchObject({ ok: true });
      expect(answered).toBeLessThan(STORM);
      const outcomes: Outcome[] = await Promise.all(storm);
      expect(most).toBe(1);
      for (const outcome of outcomes) expect(outcome.ok || outcome.status).toSatisfy((said) => said === true || said === 503);
    },
  );

  it('the query of a caller that leaves is cancelled, and frees its place', { timeout: 60_000 }, async () => {
    const query = { $apply: COSTLY, $top: 1 };
    const path =
      face === 'rest'
        ? `/products?${new URLSearchParams({ ...query, $top: '1' }).toString()}`
        : `/trpc/products.list?input=${encodeURIComponent(JSON.stringify(query))}`;
    const leaving = new AbortController();
    const begun = new Promise<void>((resolve) => (started = resolve));
    const left = fetch(app.url + path, { signal: leaving.signal });
    await begun;
    leaving.abort();
    await expect(left).rejects.toThrow('aborted');
    expect(await costly(face)).toMatchObject({ ok: true });
    // ended by the driver, not by the store's time limit
    expect(failures).toEqual(['ApiError']);
  });
});

it('anonymous callers of all networks share one place', { timeout: 60_000 }, async () => {
  const storm = Array.from({ length: 4 }, (_, n) => {
    const headers = { 'x-forwarded-for': `198.51.100.${n}` };
    return app.call('rest', 'products.list', { $apply: COSTLY, $top: 1 }, { headers });
  });
  expect((await Promise.all(storm)).some(({ ok }) => ok)).toBe(true);
  expect(most).toBe(1);
});

it.each([
  ['is filtered', { $filter: "name ne 'Loaf'" }],
  ['skips many rows', { $skip: 1001 }],
  ['is searched in an order', { $search: 'loaf', $orderby: 'name' }],
])('a page that %s waits for the one before it', { timeout: 60_000 }, async (_, query) => {
  const storm = Array.from({ length: STORM }, () => app.call('rest', 'products.list', { ...query, $top: 100 }, {}));
  for (const outcome of await Promise.all(storm)) expect(outcome).toMatchObject({ ok: true });
  expect(most).toBe(1);
});

it('an indexed page never waits', async () => {
  const storm = Array.from({ length: STORM }, () => costly('rest'));
  let answered = 0;
  for (const one of storm) void one.finally(() => (answered += 1));
  expect(await app.call('rest', 'products.list', { $orderby: 'name', $top: 5 }, {})).toMatchObject({ ok: true });
  expect(answered).toBeLessThan(STORM);
  await Promise.all(storm);
});
