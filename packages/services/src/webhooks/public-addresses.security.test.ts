import { fixture, startTestServer } from '@tandem/testing';
import { request } from 'node:http';
import { once } from 'node:events';
import { describe, beforeAll, expect, it } from 'vitest';
import { startDnsServer } from '../../test/dns-server.js';
import { orderEvent, startReceiver, sendNoEvents } from '../../test/webhook-receiver.js';
import type { Delivery } from './deliveries.schemas.js';
import { createPublicAddresses, isPublicAddress } from './public-addresses.js';
import { webhookModel } from './webhook.model.js';
import type { Webhook } from './webhooks.schemas.js';

/** Documented for examples alone, but public by the registries. */
const PUBLIC = '93.184.215.14';
const PRIVATE_HOSTS = [
  '127.0.0.1',
  '127.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '100.127.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[::127.0.0.1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[::ffff:8.8.8.8]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b::8.8.8.8]',
  '[64:ff9b:1::1]',
  '[100::1]',
  '[100:0:0:1::1]',
  '[2001::1]',
  '[2001:0:7f00:1::]',
  '[2001:10::1]',
  '[2001:20::1]',
  '[2001:db8::1]',
  '[2002:7f00:1::]',
  '[3fff::1]',
  '[5f00::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[0:0:0:0:0:0:0:1]',
  '[4000::1]',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  'a.b.localhost.',
  '１２７.0.0.1',
  '127。0。0。1',
  '①②⑦.0.0.1',
  'ⓛocalhost',
  '%6cocalhost',
  '%31%32%37.0.0.1',
];

const dns = fixture(startDnsServer);
const app = fixture(() => startTestServer({ webhooks: { pollMs: 3_600_000, dnsServers: [dns.address] } }));
const admin = fixture(() => app.signUpAdmin());
beforeAll(() => sendNoEvents(app));
const REFUSED = { error: { message: 'Validation Error', data: ['request body/url must be a public address'] } };
const save = (url: string) => admin.rest('POST', '/webhooks', { url, types: ['*'] });
const newName = () => `${crypto.randomUUID()}.example`;

it.each(PRIVATE_HOSTS)('no webhook is saved for %s', async (host) => {
  for (const url of [`http://${host}/`, `https://${host}:8443/x?y`]) {
    const { status, body } = await save(url);
    expect({ status, body }).toEqual({ status: 400, body: REFUSED });
  }
});

it('no webhook is changed to an address that is not public', async () => {
  const { id } = await save(`https://${PUBLIC}/`).expect<Webhook>(201);
  const { status, body } = await admin.rest('PATCH', `/webhooks/${id}`, { url: 'http://[::1]/' });
  expect({ status, body }).toEqual({ status: 400, body: REFUSED });
  await admin.rest('DELETE', `/webhooks/${id}`).expect(204);
});

it.each([
  PUBLIC,
  '8.8.8.8',
  '100.63.255.255',
  '100.128.0.1',
  '172.32.0.1',
  '198.20.0.1',
  '223.255.255.255',
  '2606:4700::1',
  '2a00:1450::1',
])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true));

it.each(['', 'localhost', '1.2.3', '127.1', '::ffff:1.2.3.4', 'fe80::1%eth0'])('%j is no public address', (address) =>
  expect(isPublicAddress(address)).toBe(false),
);

describe('a name', () => {
  it.each([['127.0.0.1'], ['10.0.0.1'], [PUBLIC, '169.254.169.254']])('of %s is not saved', async (...addresses) => {
    const name = newName();
    dns.answers.set(name, [addresses]);
    const { status, body } = await save(`https://${name}/`);
    expect({ status, body }).toEqual({ status: 400, body: REFUSED });
  });

  it('that is public, or that does not resolve, is saved', async () => {
    const name = newName();
    dns.answers.set(name, [[PUBLIC]]);
    for (const host of [name, newName()]) {
      const { id } = await save(`https://${host}/`).expect<Webhook>(201);
      await admin.rest('DELETE', `/webhooks/${id}`).expect(204);
    }
  });

  it('that leads elsewhere after it was saved is not connected to', async () => {
    await using receiver = await startReceiver();
    const name = newName();
    dns.answers.set(name, [[PUBLIC], ['127.0.0.1']]);
    const { id } = await save(receiver.url.replace('127.0.0.1', name)).expect<Webhook>(201);
    await app.tandem.services.webhooks.dispatch([orderEvent()]);
    await app.tandem.services.webhooks.sending.work();
    const { data } = await admin.rest('GET', `/webhooks/${id}/deliveries`).expect<{ data: Delivery[] }>(200);
    expect(data).toMatchObject([{ status: 'pending', responseStatus: null, error: 'the address is not public' }]);
    expect(receiver.received).toEqual([]);
    // once to save it and once to connect: there is no moment between the check and the connection
    expect(dns.asked.get(name)).toBe(2);
    await admin.rest('DELETE', `/webhooks/${id}`).expect(204);
  });

  it('is connected to at the address that was checked', async () => {
    await using receiver = await startReceiver();
    const name = newName();
    dns.answers.set(name, [['127.0.0.1'], ['127.0.0.2']]);
    const checked: string[] = [];
    const addresses = createPublicAddresses(
      { privateAddresses: false, dnsServers: [dns.address] },
      (address) => checked.push(address) > 0,
    );
    const sent = request(receiver.url.replace('127.0.0.1', name), {
      ...addresses.connectionTo(new URL(`http://${name}`)),
      method: 'POST',
      agent: false,
    });
    sent.end('{}');
    const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
    expect([checked, response.socket.remoteAddress]).toEqual([['127.0.0.1'], '127.0.0.1']);
    response.resume();
  });
});

it('an address that was saved when that was allowed is not connected to', async () => {
  await using receiver = await startReceiver();
  const { id } = await save(`https://${PUBLIC}/`).expect<Webhook>(201);
  const port = new URL(receiver.url).port;
  for (const url of [
    receiver.url,
    `http://[::ffff:127.0.0.1]:${port}/`,
    `http://2130706433:${port}/`,
    `http://localhost:${port}/`,
  ])
    await app.storage
      .model(webhookModel)
      .updateOne({ _id: id }, { $set: { url } })
      .then(async () => {
        await app.tandem.services.webhooks.dispatch([orderEvent()]);
        await app.tandem.services.webhooks.sending.work();
      });
  const { data } = await admin.rest('GET', `/webhooks/${id}/deliveries`).expect<{ data: Delivery[] }>(200);
  expect(data.map(({ error }) => String(error)).toSorted((one, other) => one.localeCompare(other))).toEqual([
    ...Array.from({ length: 3 }, () => 'the address is not public'),
    'the name does not resolve',
  ]);
  expect(receiver.received).toEqual([]);
});
