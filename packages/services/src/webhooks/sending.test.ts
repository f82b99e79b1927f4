import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:tls';
import { execFileSync } from 'node:child_process';
import { PATIENCE, fixture, startTestServer } from '@tandem/testing';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { createOrganization } from '../../test/people.js';
import { orderEvent, startReceiver, sendNoEvents } from '../../test/webhook-receiver.js';
import { deliveryModel, type DeliveryRecord } from './delivery.models.js';
import type { Webhook } from './webhooks.schemas.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const webhooks = { privateAddresses: true, pollMs: 3_600_000 };
const lifetimes = { accessTokenExpireTime: '90d', refreshTokenExpireTime: '90d', sessionMaxTime: '200d' };
const app = fixture(() => startTestServer({ webhooks, lifetimes }));
const admin = fixture(() => app.signUpAdmin());
beforeAll(() => sendNoEvents(app));
const made: string[] = [];
afterEach(async () => {
  await Promise.all(made.splice(0).map((id) => admin.rest('DELETE', `/webhooks/${id}`).expect(204)));
});

/** A webhook for events of this type alone. */
async function create(url: string, type: string): Promise<string> {
  const { id } = await admin.rest('POST', '/webhooks', { url, types: [type] }).expect<Webhook>(201);
  made.push(id);
  return id;
}
const service = () => app.tandem.services.webhooks;
const eventsOf = (type: string, count: number) => Array.from({ length: count }, () => orderEvent({ type }));

it('two instances share the work, and send each message once', async () => {
  await using other = await startTestServer({ clock: app.clock, webhooks });
  await using receiver = await startReceiver();
  for (let n = 0; n < 10; n++) await create(receiver.url, 'order.created');
  const release = receiver.hold();
  const events = eventsOf('order.created', 3);
  await service().dispatch(events);
  const both = [service().sending.work(), other.tandem.services.webhooks.sending.work()];
  await receiver.arrived(30);
  release();
  await Promise.all(both);
  const expected = events.flatMap(({ id }) => Array.from({ length: 10 }, () => id));
  expect(receiver.ids().toSorted()).toEqual(expected.toSorted());
});

it('what is added while a webhook has its turn is sent without waiting for a poll', async () => {
  await using receiver = await startReceiver();
  await create(receiver.url, 'order.created');
  for (let n = 0; n < 30; n++) await service().dispatch(eventsOf('order.created', 1));
  await receiver.arrived(30);
  await service().sending.work();
  expect(receiver.received).toHaveLength(30);
});

it('a delivery that is asked for again during its last try is sent once more', async () => {
  await using receiver = await startReceiver();
  receiver.answer(500);
  const id = await create(receiver.url, 'order.created');
  await service().dispatch(eventsOf('order.created', 1));
  await service().sending.work();
  const Deliveries = app.storage.model(deliveryModel);
  const row = await Deliveries.findOneAndUpdate({ webhookId: id }, { attempts: 7 }).lean<DeliveryRecord>();
  const again = () => admin.rest('POST', `/webhooks/${id}/deliveries/${row?._id}/redeliver`).expect(200);
  const release = receiver.hold();
  await again();
  await receiver.arrived(2);
  app.clock.advance(1000);
  await again();
  release();
  await expect.poll(() => receiver.received.length, PATIENCE).toBe(3);
  await service().sending.work();
  expect(await Deliveries.findOne({ webhookId: id }).lean()).toMatchObject({
    status: 'failed',
    attempts: 9,
    responseStatus: 500,
  });
  expect(receiver.received).toHaveLength(3);
});

it('a server that closes cuts off what lasts too long, and another sends it again', async () => {
  const closing = await startTestServer({ clock: app.clock, webhooks });
  await using receiver = await startReceiver();
  const id = await create(receiver.url, 'order.created');
  const release = receiver.hold();
  const [event] = eventsOf('order.created', 1);
  if (!event) throw new Error('no event');
  await closing.tandem.services.webhooks.dispatch([event]);
  await receiver.arrived(1);
  await closing.close();
  release();
  await service().sending.work();
  await receiver.arrived(2);
  expect(receiver.ids()).toEqual([event.id, event.id]);
  await service().sending.work();
  const { data } = await admin.rest('GET', `/webhooks/${id}/deliveries`).expect<{ data: object[] }>(200);
  expect(data).toMatchObject([{ status: 'delivered', attempts: 1 }]);
});

it('a worker that another one has taken the place of meanwhile disables nothing', async () => {
  await using other = await startTestServer({ clock: app.clock, webhooks });
  await using receiver = await startReceiver();
  const id = await create(receiver.url, 'order.created');
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  receiver.answer((response) => {
    if (receiver.received.length > 1) response.writeHead(204).end();
    else void held.then(() => response.writeHead(410).end());
  });
  const [event] = eventsOf('order.created', 1);
  if (!event) throw new Error('no event');
  await other.tandem.services.webhooks.dispatch([event]);
  await receiver.arrived(1);
  app.clock.advance(61_000);
  await service().sending.work();
  expect(receiver.received).toHaveLength(2);
  release();
  await other.tandem.services.webhooks.sending.work();
  const { data } = await admin.rest('GET', `/webhooks/${id}/deliveries`).expect<{ data: object[] }>(200);
  expect(data).toMatchObject([{ status: 'delivered' }]);
  expect(await admin.rest('GET', `/webhooks/${id}`).expect(200)).toMatchObject({ disabledAt: null });
});

async function changeUrl(id: string, url: string): Promise<void> {
  await admin.rest('PATCH', `/webhooks/${id}`, { url }).expect(200);
}
const disabledAtOf = async (id: string) => (await admin.rest('GET', `/webhooks/${id}`).expect<Webhook>(200)).disabledAt;

it('an answer of 410 from a former address disables nothing, and the new address gets the message', async () => {
  await using former = await startReceiver();
  await using next = await startReceiver();
  const id = await create(former.url, 'order.created');
  former.answer(410);
  const release = former.hold();
  const [event] = eventsOf('order.created', 1);
  await service().dispatch(event ? [event] : []);
  await former.arrived(1);
  await changeUrl(id, next.url);
  release();
  await service().sending.work();
  app.clock.advance(5000);
  await service().sending.work();
  expect(await disabledAtOf(id)).toBeNull();
  expect(next.ids()).toEqual([event?.id]);
});

it('failures of a former address do not count for the new one', async () => {
  await using former = await startReceiver();
  await using next = await startReceiver();
  const id = await create(former.url, 'order.created');
  former.answer(500);
  next.answer(500);
  await service().dispatch(eventsOf('order.created', 1));
  await service().sending.work();
  app.clock.advance(2 * DAY);
  await changeUrl(id, next.url);
  app.clock.advance(DAY + MINUTE);
  await service().sending.work();
  expect(next.received).toHaveLength(1);
  expect(await disabledAtOf(id)).toBeNull();
  app.clock.advance(3 * DAY);
  await service().sending.work();
  expect(await disabledAtOf(id)).not.toBeNull();
});

it('after a change of the address no request to the former one begins, and after a deletion none at all', async () => {
  await using former = await startReceiver();
  await using next = await startReceiver();
  const id = await create(former.url, 'order.created');
  let release = former.hold();
  const subject = { type: 'order', id: randomUUID() } as const;
  const ofOne = [0, 1].map(() => orderEvent({ type: 'order.created', subject }));
  await service().dispatch([...ofOne, ...eventsOf('order.created', 8)]);
  await former.arrived(4);
  await changeUrl(id, next.url);
  const begun = former.received.length;
  release();
  await next.arrived(10 - begun);
  await service().sending.work();
  expect(former.received).toHaveLength(begun);
  expect(new Set([...former.ids(), ...next.ids()]).size).toBe(10);
  release = next.hold();
  await service().dispatch(eventsOf('order.created', 10));
  await next.arrived(10 - begun + 5);
  await admin.rest('DELETE', `/webhooks/${id}`).expect(204);
  made.length = 0;
  release();
  await service().sending.work();
  expect(next.received).toHaveLength(10 - begun + 5);
});

it('what waits for webhooks that go with their organization is sent when they are back, and given up for one deleted by itself', async () => {
  await using receiver = await startReceiver();
  receiver.answer(500);
  const organizationId = await createOrganization(admin);
  const body = { url: receiver.url, types: ['order.created'], organizationId };
  const add = () => admin.rest('POST', '/webhooks', body).expect<Webhook>(201);
  const [stays, gone] = [await add(), await add()];
  await service().dispatch([orderEvent({ organizationId })]);
  await service().sending.work();
  await admin.rest('DELETE', `/webhooks/${gone.id}`).expect(204);
  await admin.rest('DELETE', `/organizations/${organizationId}`).expect(204);
  app.clock.advance(MINUTE);
  await service().sending.work();
  receiver.answer(204);
  await admin.rest('POST', `/organizations/${organizationId}/restore`).expect(200);
  app.clock.advance(60 * MINUTE);
  await service().sending.work();
  const { collection } = app.storage.model(deliveryModel);
  const statusOf = async ({ id }: Webhook) => (await collection.findOne({ webhookId: id } as object))?.['status'];
  expect([await statusOf(stays), await statusOf(gone)]).toEqual(['delivered', 'failed']);
  expect(receiver.received).toHaveLength(3);
});

it('a receiver whose certificate nobody vouches for gets nothing', async () => {
  const made = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=localhost',
    '-days',
    '1',
  ];
  const pem = execFileSync('openssl', [...made, '-keyout', '-', '-out', '-'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const server = createServer({ key: pem, cert: pem }).listen(0, '127.0.0.1');
  let bytes = 0;
  server.on('secureConnection', (socket) => socket.on('data', (chunk) => (bytes += chunk.length)));
  server.on('tlsClientError', () => {});
  await once(server, 'listening');
  const id = await create(`https://localhost:${(server.address() as AddressInfo).port}/`, 'order.created');
  await service().dispatch(eventsOf('order.created', 1));
  await service().sending.work();
  const { data } = await admin.rest('GET', `/webhooks/${id}/deliveries`).expect<{ data: object[] }>(200);
  expect(data).toMatchObject([{ status: 'pending', responseStatus: null, error: 'no answer: DEPTH_ZERO_SELF_SIGNED_CERT' }]);
  expect(bytes).toBe(0);
  server.close();
});
