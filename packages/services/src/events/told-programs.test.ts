import { fixture, newEmail, startTestServer, type Person } from '@tandem/testing';
import { beforeAll, expect, it, vi } from 'vitest';
import { startReceiver } from '../../test/webhook-receiver.js';
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

it('a change reaches the webhooks that want it, an organization’s without what admins alone see', async () => {
  await using own = await startReceiver();
  await using all = await startReceiver();
  const owner = await app.signUp();
  const organization = { name: `Tea ${owner.id}`, description: '', contact_email: newEmail() };
  const { id: organizationId } = await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
  const types = ['organization.updated'];
  await owner.rest('POST', '/webhooks', { url: own.url, types, organizationId }).expect(201);
  await admin.rest('POST', '/webhooks', { url: all.url, types }).expect(201);
  const changes = { branchName: 'North', privateMetadata: { credit: 7 } };
  await admin.rest('PATCH', `/admin/organizations/${organizationId}`, changes).expect(200);
  await Promise.all([own.arrived(1), all.arrived(1)]);
  const [toOwner, toAdmin] = [own, all].map(({ received }) => received[0]?.body ?? '');
  expect(JSON.parse(toAdmin ?? '')).toMatchObject({ type: 'organization.updated', data: changes });
  expect(JSON.parse(toOwner ?? '')).toMatchObject({ data: { branchName: 'North' } });
  expect(toOwner).not.toContain('credit');
  expect(own.ids()).toEqual(all.ids());
});
