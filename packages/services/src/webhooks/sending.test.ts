import { once } from 'node:events';
import { createServer } from 'node:tls';
import { execFileSync } from 'node:child_process';
import { PATIENCE, fixture, startTestServer } from '@tandem/testing';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { orderEvent, startReceiver, sendNoEvents } from '../../test/webhook-receiver.js';
import { deliveryModel, lineModel, type DeliveryRecord } from './delivery.models.js';
import type { Webhook } from './webhooks.schemas.js';

const webhooks = { privateAddresses: true, pollMs: 3_600_000 };
const app = fixture(() => startTestServer({ webhooks }));
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

it('a slow receiver delays no other, and has few requests under way', async () => {
  await using slow = await startReceiver();
  await using fast = await startReceiver();
  await create(slow.url, 'order.created');
  await create(fast.url, 'order.updated');
  const release = slow.hold();
  await service().dispatch(eventsOf('order.created', 30));
  await slow.arrived(5);
  const events = eventsOf('order.updated', 30);
  await service().dispatch(events);
  await fast.arrived(30);
  expect(fast.ids().toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  expect(slow.received).toHaveLength(5);
  release();
  await slow.arrived(30);
  await service().sending.work();
});

it('many slow receivers delay no other either', async () => {
  await using slow = await startReceiver();
  await using fast = await startReceiver();
  const ids = await Promise.all(Array.from({ length: 30 }, () => create(slow.url, 'order.created')));
  await create(fast.url, 'order.updated');
  await service().dispatch(eventsOf('order.created', 1));
  await slow.arrived(30);
  await service().sending.work();
  // as after an answer that took long
  const slowUntil = new Date(app.clock.now().getTime() + 3_600_000);
  await app.storage.model(lineModel).updateMany({ _id: { $in: ids } }, { $set: { slowUntil } });
  // a quick answer does not make them quick
  await service().dispatch(eventsOf('order.created', 1));
  await slow.arrived(60);
  await service().sending.work();
  const release = slow.hold();
  await service().dispatch(eventsOf('order.created', 1));
  await slow.arrived(60 + 12);
  await service().dispatch(eventsOf('order.updated', 1));
  await fast.arrived(1);
  expect(slow.received).toHaveLength(60 + 12);
  release();
  await slow.arrived(90);
  await service().sending.work();
});

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
