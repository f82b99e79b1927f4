import { newId } from '@tandem/storage';
import { fixture, startStoreProxy, startTestServer } from '@tandem/testing';
import { expect, it } from 'vitest';
import { startReceiver } from '../../test/webhook-receiver.js';
import { webhookModel } from './webhook.model.js';
import type { Webhook } from './webhooks.schemas.js';

const webhooks = { privateAddresses: true };
const app = fixture(() => startTestServer({ webhooks }));
const other = fixture(() => startTestServer({ clock: app.clock, mongodbUri: app.mongodbUri, webhooks }));
const admin = fixture(() => app.signUpAdmin());

it('what happens after the first webhook was made is sent, each event once, while two instances follow', async () => {
  const make = async (server: typeof app, name: string) => {
    const given = { name, description: '' };
    return (await server.rest('POST', '/categories', given, admin.credentials).expect<{ id: string }>(201)).id;
  };
  for (let round = 0; round < 5; round++) {
    await using receiver = await startReceiver();
    // others happen meanwhile, with nobody to send them to
    const before = Array.from({ length: 5 }, (_, n) => make(n % 2 === 0 ? app : other, `before ${round} ${n}`));
    const given = { url: receiver.url, types: ['category.created'] };
    const { id } = await app.rest('POST', '/webhooks', given, admin.credentials).expect<Webhook>(201);
    const after = await Promise.all([make(other, `after ${round}`), make(app, `after too ${round}`)]);
    await Promise.all(before);
    const seen = () => receiver.received.map(({ event }) => (event['subject'] as { id: string }).id);
    await expect.poll(seen, { timeout: 20_000 }).toEqual(expect.arrayContaining(after));
    // what is sent after it comes behind it
    const last = await make(other, `last ${round}`);
    await expect.poll(seen, { timeout: 20_000 }).toContain(last);
    expect(new Set(receiver.ids()).size).toBe(receiver.ids().length);
    await app.rest('DELETE', `/webhooks/${id}`, undefined, admin.credentials).expect(204);
  }
});

it('whether there is a webhook at all is read from one entry of an index, however many are disabled', async () => {
  const { collection } = app.storage.model(webhookModel);
  const rows = Array.from({ length: 500 }, (_, slot) => ({
    _id: newId(),
    slot: 1000 + slot,
    disabledAt: new Date(),
    deletedAt: null,
  }));
  await collection.insertMany(rows as never);
  await using proxy = await startStoreProxy(app.mongodbUri);
  await using watched = await startTestServer({ mongodbUri: proxy.uri, clock: app.clock, webhooks });
  await watched.tandem.services.webhooks.isAnyEnabled();
  const { body } = proxy.commands.findLast((one) => `${one.collection}.${one.command}` === 'webhooks.find') ?? {};
  const { filter, sort, projection, limit } = body as Record<'filter' | 'sort' | 'projection', object> & { limit: number };
  const plan = await collection.find(filter, { sort: sort as Record<string, 1>, projection, limit }).explain('executionStats');
  expect(plan['executionStats']).toMatchObject({ totalKeysExamined: 0, totalDocsExamined: 0 });
});
