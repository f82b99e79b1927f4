import { fixture, startTestServer } from '@tandem/testing';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { orderEvent, sendNoEvents, startReceiver, type WebhookReceiver } from '../../test/webhook-receiver.js';
import { lineModel } from './delivery.models.js';
import type { Webhook } from './webhooks.schemas.js';

const HOUR = 3_600_000;

const webhooks = { privateAddresses: true, pollMs: HOUR };
const lifetimes = { accessTokenExpireTime: '90d', refreshTokenExpireTime: '90d', sessionMaxTime: '200d' };
const app = fixture(() => startTestServer({ webhooks, lifetimes }));
const admin = fixture(() => app.signUpAdmin());
beforeAll(() => sendNoEvents(app));

let slow: WebhookReceiver;
let fast: WebhookReceiver;
const made: string[] = [];
beforeEach(async () => {
  [slow, fast] = await Promise.all([startReceiver(), startReceiver()]);
});
afterEach(async () => {
  await Promise.all(made.splice(0).map((id) => admin.rest('DELETE', `/webhooks/${id}`).expect(204)));
  await Promise.all([slow, fast].map((receiver) => receiver[Symbol.asyncDispose]()));
});

const TYPES = { slow: 'order.created', fast: 'order.updated' };
const service = () => app.tandem.services.webhooks;
const sending = () => service().sending.work();
const dispatch = (to: keyof typeof TYPES, count = 1) =>
  service().dispatch(Array.from({ length: count }, () => orderEvent({ type: TYPES[to] })));

/** A webhook for the events of this type alone. */
async function create(to: keyof typeof TYPES): Promise<string> {
  const body = { url: { slow, fast }[to].url, types: [TYPES[to]] };
  const { id } = await admin.rest('POST', '/webhooks', body).expect<Webhook>(201);
  made.push(id);
  return id;
}
const createMany = () => Promise.all(Array.from({ length: 30 }, () => create('slow')));

/** The fast one, whose first message was more than an hour ago. */
async function createKnown(): Promise<void> {
  await create('fast');
  await dispatch('fast');
  await fast.arrived(1);
  await sending();
  app.clock.advance(HOUR);
}

it('a slow receiver delays no other, and has few requests under way', async () => {
  await create('slow');
  await create('fast');
  const release = slow.hold();
  await dispatch('slow', 30);
  await slow.arrived(5);
  await dispatch('fast', 30);
  await fast.arrived(30);
  expect(new Set(fast.ids()).size).toBe(30);
  expect(slow.received).toHaveLength(5);
  release();
  await slow.arrived(30);
  await sending();
});

it('many slow receivers delay no other either', async () => {
  await createKnown();
  const ids = await createMany();
  await dispatch('slow');
  await slow.arrived(30);
  await sending();
  app.clock.advance(HOUR);
  // as after an answer that took long
  const slowUntil = new Date(app.clock.now().getTime() + HOUR);
  await app.storage.model(lineModel).updateMany({ _id: { $in: ids } }, { $set: { slowUntil } });
  // a quick answer does not make them quick
  await dispatch('slow');
  await slow.arrived(60);
  await sending();
  const release = slow.hold();
  await dispatch('slow');
  await slow.arrived(60 + 12);
  await dispatch('fast');
  await fast.arrived(2);
  expect(slow.received).toHaveLength(60 + 12);
  release();
  await slow.arrived(90);
  await sending();
});

it('nor do they when several are looked for at the same time', async () => {
  await createKnown();
  await createMany();
  const release = slow.hold();
  await dispatch('slow');
  for (let lane = 0; lane < 24; lane++) service().sending.wake();
  await slow.arrived(12);
  await dispatch('fast');
  service().sending.wake();
  await fast.arrived(2);
  expect(slow.received).toHaveLength(12);
  release();
  await slow.arrived(30);
  await sending();
});

it('nor do many new ones, which count as slow for an hour from their first message on', async () => {
  await createKnown();
  await createMany();
  // a quick answer does not make them known
  await dispatch('slow');
  await slow.arrived(30);
  await sending();
  const release = slow.hold();
  await dispatch('slow');
  await slow.arrived(30 + 12);
  await dispatch('fast');
  await fast.arrived(2);
  expect(slow.received).toHaveLength(30 + 12);
  release();
  await slow.arrived(60);
  await sending();
  app.clock.advance(HOUR);
  const releaseAll = slow.hold();
  await dispatch('slow');
  await slow.arrived(60 + 24);
  releaseAll();
  await slow.arrived(90);
  await sending();
});
