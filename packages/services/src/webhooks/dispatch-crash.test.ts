import { openStorage } from '@tandem/storage';
import {
  PASSWORD,
  databaseOf,
  fixture,
  startServerProcess,
  startStoreProxy,
  type ServerProcess,
  type StoreCommand,
} from '@tandem/testing';
import { expect, it } from 'vitest';
import { sendNoEvents, startReceiver } from '../../test/webhook-receiver.js';
import { followerModel } from '../events/event-followers.js';
import { lineModel } from './delivery.models.js';

const mongodbUri = databaseOf('dispatch_crash');
const ADMIN = { email: 'admin@example.org', password: PASSWORD };
/** Of a page of events. */
const EVENTS = 5;

/** How many of the writes that queue events are let through. */
let left = Number.POSITIVE_INFINITY;
let reach = (): void => {};
const QUEUING = new Set(['webhookMessages', 'webhookDeliveries', 'webhookLines']);
function mayPass({ collection }: StoreCommand): boolean {
  if (!QUEUING.has(collection)) return true;
  if (left === 0) reach();
  return left-- > 0;
}
const storage = fixture(async () => {
  const opened = await openStorage({ uri: mongodbUri });
  return { ...opened, [Symbol.asyncDispose]: opened.close };
});
/** Each process has its own way to the store: one that has held a write lets nothing pass any more. */
async function start(): Promise<Pick<ServerProcess, 'rest' | 'kill'>> {
  const proxy = await startStoreProxy(mongodbUri, { mayPass });
  const server = await startServerProcess({
    MONGODB_URI: proxy.uri,
    MONGODB_POOL_SIZE: '64',
    WEBHOOK_PRIVATE_ADDRESSES: 'on',
    BOOTSTRAP_ADMIN_EMAIL: ADMIN.email,
    BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
  });
  const kill = async () => {
    await server.kill();
    await proxy.close();
  };
  return { rest: server.rest, kill };
}

it('of a page of events whose process dies after any of its writes none is lost, and what comes twice has the same id', async () => {
  await using receiver = await startReceiver();
  await sendNoEvents({ storage });
  let server = await start();
  const { accessToken } = await server.rest('POST', '/auth/login', ADMIN).expect<{ accessToken: string }>(200);
  const types = ['category.created'];
  await server.rest('POST', '/webhooks', { url: receiver.url, types }, { accessToken }).expect(201);
  const free = { $set: { owner: null, leaseUntil: new Date(0) } };
  for (let writes = 0, isDone = false; !isDone; writes++) {
    await server.kill();
    await sendNoEvents({ storage });
    left = Number.POSITIVE_INFINITY;
    server = await start();
    for (let n = 0; n < EVENTS; n++)
      await server.rest('POST', '/categories', { name: `${writes} ${n}`, description: '' }, { accessToken }).expect(201);
    await server.rest('GET', '/events', undefined, { accessToken }).expect(200);
    await server.kill();
    const sent = receiver.received.length;
    left = writes;
    const reached = new Promise<boolean>((resolve) => (reach = () => resolve(true)));
    // who dies holds these for half a minute and a minute: this is the minute
    await storage.model(followerModel).collection.updateOne({ _id: 'webhooks' } as object, free);
    await storage.model(lineModel).collection.updateMany({}, { $set: { owner: null, dueAt: new Date(0) } });
    server = await start();
    await reached;
    // all of the page was queued, since something of it has been sent
    isDone = receiver.received.length > sent;
  }
  await server.kill();
  left = Number.POSITIVE_INFINITY;
  await storage.model(followerModel).collection.updateOne({ _id: 'webhooks' } as object, free);
  await storage.model(lineModel).collection.updateMany({}, { $set: { owner: null, dueAt: new Date(0) } });
  server = await start();
  const path = '/events?types=category.created&limit=200';
  const { data } = await server.rest('GET', path, undefined, { accessToken }).expect<{ data: { id: string }[] }>(200);
  const ids = data.map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(2 * EVENTS);
  await expect.poll(() => [...new Set(receiver.ids())].toSorted(), { timeout: 20_000 }).toEqual(ids);
  const names = new Map(receiver.received.map(({ headers, event }) => [headers['webhook-id'], event]));
  expect([...names.keys()].toSorted()).toEqual(ids);
  await server.kill();
}, 240_000);
