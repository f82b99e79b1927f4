import { fixture, newEmail, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, expect, it, vi } from 'vitest';
import { startReceiver } from '../../test/webhook-receiver.js';
import { SERVICES } from '../router.js';
import { EVENT_TYPES } from './domain-event.js';
import { CHANGES } from './event-types.js';
import type { EventOf } from './event-records.js';

const handled: EventOf<'product.*'>[] = [];
const app = fixture(() =>
  startTestServer({
    webhooks: { privateAddresses: true, pollMs: 3_600_000 },
    code: { on: { 'product.*': (event) => handled.push(event) } },
  }),
);
let admin: Person;
beforeAll(async () => {
  admin = await app.signUpAdmin();
});

it('a host’s handler is called with the events of its type', async () => {
  const product = await admin.rest('POST', '/products', { name: 'Rye', description: '' }).expect<{ id: string }>(201);
  await admin.rest('DELETE', `/products/${product.id}`).expect(204);
  const seen = () => handled.filter(({ subject }) => subject.id === product.id).map(({ type, data }) => [type, data.name]);
  await vi.waitFor(() => expect(seen()).toHaveLength(2), { timeout: 20_000 });
  expect(seen()).toEqual([
    ['product.created', 'Rye'],
    ['product.deleted', 'Rye'],
  ]);
});

it('a handler of events that do not exist keeps the server from starting', async () => {
  const on = { 'order.eaten': () => undefined } as object;
  await expect(startTestServer({ code: { on } })).rejects.toThrow('on: there are no events "order.eaten"');
});

it('a change reaches the webhooks that want it, and shows none of them what admins alone see', async () => {
  await using receiver = await startReceiver();
  const owner = await app.signUp();
  const organization = { name: `Tea ${owner.id}`, description: '', contact_email: newEmail() };
  const { id } = await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
  for (const [person, organizationId] of [
    [owner, id],
    [admin, undefined],
  ] as const)
    await person
      .rest('POST', '/webhooks', {
        url: receiver.url,
        types: ['organization.updated'],
        ...(organizationId && { organizationId }),
      })
      .expect(201);
  await admin.rest('PATCH', `/admin/organizations/${id}`, { branchName: 'North', privateMetadata: { credit: 7 } }).expect(200);
  await receiver.arrived(2);
  expect(receiver.received.map(({ body }) => body)).toEqual([
    expect.stringContaining('"branchName":"North"'),
    expect.stringContaining('"branchName":"North"'),
  ]);
  expect(JSON.stringify(receiver.received)).not.toContain('credit');
  expect(new Set(receiver.ids()).size).toBe(1);
});

it('webhooks know the types of all kinds that services declare', () => {
  const declared = SERVICES.flatMap(({ tells = [] }) => tells.flatMap((kind) => CHANGES.map((change) => `${kind}.${change}`)));
  expect(new Set(EVENT_TYPES)).toEqual(new Set([...declared, 'webhook.disabled']));
});
