import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Tandem } from '@tandem/services';
import { PASSWORD, PATIENCE, TEST_SECRETS, databaseOf, newEmail, startTestServer } from '@tandem/testing';
import express from 'express';
import { afterEach, expect, it, vi } from 'vitest';
import { sendNoEvents, startReceiver } from '../packages/services/test/webhook-receiver.js';
import { listen } from './host-application.js';
import { runSample, sampleOf } from './samples.js';

afterEach(() => vi.unstubAllEnvs());

it('the receiver of docs/webhooks.md takes what the server sends, and refuses what others send', async () => {
  await using app = await startTestServer({ webhooks: { privateAddresses: true, pollMs: 3_600_000 } });
  await sendNoEvents(app);
  const admin = await app.signUpAdmin();
  const sample = sampleOf('docs/webhooks.md', 'createServer');
  const create = (url: string) =>
    admin.rest('POST', '/webhooks', { url, types: ['*'] }).expect<{ id: string; secret: string }>(201);
  const { id, secret } = await create('http://127.0.0.1/');
  vi.stubEnv('WEBHOOK_SECRET', secret);
  const { receiver } = await runSample<{ receiver: Server }>(sample);
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    await admin.rest('PATCH', `/webhooks/${id}`, { url }).expect(200);
    const forged = await create(url);
    const statusOf = async (webhookId: string) => {
      await admin.rest('POST', `/webhooks/${webhookId}/test`).expect(201);
      await app.tandem.services.webhooks.sending.work();
      const { data } = await admin
        .rest('GET', `/webhooks/${webhookId}/deliveries`)
        .expect<{ data: { responseStatus: number }[] }>(200);
      return data[0]?.responseStatus;
    };
    expect(await statusOf(id)).toBe(204);
    expect(log.mock.calls).toEqual([['webhook.test']]);
    expect(await statusOf(forged.id)).toBe(400);
  } finally {
    log.mockRestore();
    receiver.close();
  }
});

it('the host of docs/webhooks.md sends events', async () => {
  vi.stubEnv('MONGODB_URI', databaseOf('webhooks_doc'));
  vi.stubEnv('AUTH_ENC_SECRET', TEST_SECRETS.authEncSecret);
  vi.stubEnv('AUTH_SIGN_SECRET', TEST_SECRETS.authSignSecret);
  const sample = sampleOf('docs/webhooks.md', 'createTandem').replace('privateAddresses: false', 'privateAddresses: true');
  const { tandem, close } = await runSample<{ tandem: Tandem; close(): Promise<void> }>(sample);
  try {
    await using receiver = await startReceiver();
    await using host = await listen(express().use(tandem.routes()));
    const admin = { email: newEmail(), password: PASSWORD };
    await tandem.services.authentication.createAdmin(admin);
    const { body } = await host.call('POST', '/auth/login', admin);
    const post = (route: string, given: object) =>
      host.call('POST', route, given, { authorization: `Bearer ${String(body?.['accessToken'])}` });
    expect(await post('/webhooks', { url: receiver.url, types: ['product.*'] })).toMatchObject({ status: 201 });
    expect(await post('/products', { name: 'Rye', description: '' })).toMatchObject({ status: 201 });
    await expect.poll(() => receiver.received.map(({ event }) => event.type), PATIENCE).toEqual(['product.created']);
  } finally {
    await close();
  }
});
