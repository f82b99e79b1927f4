import { fixture, startTestServer } from '@tandem/testing';
import { beforeAll, expect, it } from 'vitest';
import { orderEvent, startReceiver, sendNoEvents } from '../../test/webhook-receiver.js';
import { deliveryModel, type DeliveryRecord } from './delivery.models.js';
import type { Webhook } from './webhooks.schemas.js';

const DAY = 24 * 60 * 60_000;
const lifetimes = { accessTokenExpireTime: '90d', refreshTokenExpireTime: '90d', sessionMaxTime: '200d' };
const app = fixture(() => startTestServer({ webhooks: { privateAddresses: true, pollMs: 3_600_000 }, lifetimes }));
const admin = fixture(() => app.signUpAdmin());
beforeAll(() => sendNoEvents(app));
const service = () => app.tandem.services.webhooks;

it('a delivery that was given up because its webhook was disabled is sent once more, not by the whole schedule again', async () => {
  await using receiver = await startReceiver();
  receiver.answer(410);
  const { id } = await admin.rest('POST', '/webhooks', { url: receiver.url, types: ['order.created'] }).expect<Webhook>(201);
  await service().dispatch([orderEvent({ type: 'order.created' })]);
  await service().sending.work();
  const Deliveries = app.storage.model(deliveryModel);
  const rowOf = () => Deliveries.findOne({ webhookId: id }).lean<DeliveryRecord>();
  const row = await rowOf();
  expect(row).toMatchObject({ status: 'failed', attempts: 1 });
  await admin.rest('PATCH', `/webhooks/${id}`, { disabledAt: null }).expect(200);
  receiver.answer(500);
  const again = () => admin.rest('POST', `/webhooks/${id}/deliveries/${row?._id}/redeliver`).expect(200);
  const release = receiver.hold();
  await again();
  await receiver.arrived(2);
  app.clock.advance(1000);
  await again();
  release();
  await receiver.arrived(3);
  await service().sending.work();
  expect(await rowOf()).toMatchObject({ status: 'failed', attempts: 3, nextAttemptAt: null });
  app.clock.advance(DAY);
  await service().sending.work();
  expect(receiver.received).toHaveLength(3);
});
