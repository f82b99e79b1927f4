import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { databaseOf, fixture, startTestServer } from '@tandem/testing';
import { beforeAll, expect, it } from 'vitest';
import { orderEvent, startReceiver, sendNoEvents } from '../../test/webhook-receiver.js';
import type { Delivery } from './deliveries.schemas.js';
import type { Webhook } from './webhooks.schemas.js';

const SCRIPT = fileURLToPath(new URL('../../test/dying-sender.js', import.meta.url));
const MINUTE = 60_000;

const app = fixture(() =>
  startTestServer({ mongodbUri: databaseOf('webhooks_crash'), webhooks: { privateAddresses: true, pollMs: 3_600_000 } }),
);
const admin = fixture(() => app.signUpAdmin());
beforeAll(() => sendNoEvents(app));
const service = () => app.tandem.services.webhooks;

it('a message whose sender is killed before it notes the answer is sent again under the same id, after a minute and not before', async () => {
  await using receiver = await startReceiver();
  const { id } = await admin.rest('POST', '/webhooks', { url: receiver.url, types: ['order.created'] }).expect<Webhook>(201);
  await service().sending.close();
  const release = receiver.hold();
  const event = orderEvent();
  await service().dispatch([event]);
  const child = spawn(process.execPath, [SCRIPT, app.mongodbUri], { stdio: 'inherit' });
  await receiver.arrived(1);
  child.kill('SIGKILL');
  await once(child, 'exit');
  release();
  service().sending.start(3_600_000);
  await service().sending.work();
  expect(receiver.received).toHaveLength(1);
  app.clock.advance(MINUTE);
  await service().sending.work();
  expect(receiver.ids()).toEqual([event.id, event.id]);
  const { data } = await admin.rest('GET', `/webhooks/${id}/deliveries`).expect<{ data: Delivery[] }>(200);
  expect(data).toMatchObject([{ status: 'delivered', attempts: 1 }]);
});
