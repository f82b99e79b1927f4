import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startTestServer } from '@tandem/testing';
import { afterEach, expect, it, vi } from 'vitest';
import { sendNoEvents } from '../packages/services/test/webhook-receiver.js';
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
