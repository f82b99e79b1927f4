import type { Tandem } from '@tandem/services';
import { openStorage, type Storage } from '@tandem/storage';
import { PATIENCE, TEST_SECRETS, fixture, resolveReference, startTestServer, type Person } from '@tandem/testing';
import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen, type Listening } from './host-application.js';
import { runSample, sampleOf } from './samples.js';

interface Sample {
  createDeliveringTandem(given: object, onNew: (deliveryId: string) => unknown): Promise<Tandem>;
}
interface Rows {
  data: object[];
  value: object[];
  nextToken: string;
}

const app = fixture(startTestServer);
const buyer = fixture(() => app.signUp());
const courier = fixture(() => app.signUp());
const admin = fixture(() => app.signUpAdmin());
let storage: Storage;
let tandem: Tandem;
let host: Listening;
const made: string[] = [];
beforeAll(async () => {
  const { createDeliveringTandem } = await runSample<Sample>(sampleOf('docs/embedding.md', 'createDeliveringTandem'));
  storage = await openStorage({ uri: app.mongodbUri });
  tandem = await createDeliveringTandem({ storage, authSecrets: TEST_SECRETS }, (id) => made.push(id));
  await storage.ensureIndexes();
  tandem.start();
  host = await listen(express().use(tandem.routes(), ...tandem.errorMiddlewares()));
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await tandem.close();
  await storage.close();
});

const call = (who: Person, method: string, route: string, body?: object) =>
  host.call(method, route, body, { authorization: `Bearer ${who.accessToken}` });
const refused = (status: number, message: string) => ({ status, body: { error: { message } } });

describe("an entity of the host's own", () => {
  it('is created, read and changed on both faces, by its rules', async () => {
    const given = { courierId: courier.id, address: 'Tea Lane 1', grams: 100 };
    const { status, body } = await call(buyer, 'POST', '/deliveries', given);
    expect([status, body]).toMatchObject([201, { ...given, buyerId: buyer.id, arrivedAt: null }]);
    const path = `/deliveries/${body?.id as string}`;
    expect((await call(courier, 'GET', path)).body).toEqual(body);
    expect(await call(buyer, 'PATCH', path, { grams: 0 })).toMatchObject(refused(400, 'Validation Error'));
    expect(await call(courier, 'PATCH', path, { grams: 1 })).toMatchObject({ status: 403 });
    expect((await call(buyer, 'PATCH', path, { grams: 150 })).body).toMatchObject({ ...given, grams: 150 });
    expect(await call(buyer, 'POST', `${path}/arrive`)).toEqual(refused(403, 'Identity is not the courier of the delivery'));
    expect((await call(courier, 'POST', '/trpc/deliveries.arrive', { deliveryId: body?.id })).status).toBe(200);
    expect(await call(courier, 'POST', `${path}/arrive`)).toEqual(refused(409, 'Delivery has already arrived'));
    const told = await call(buyer, 'GET', `/notifications/identities/${buyer.id}`);
    expect(told.body?.data).toMatchObject([{ kind: 'delivery.arrived', deliveryId: body?.id }]);
  });

  it('is deleted softly and restored by an admin', async () => {
    const given = { courierId: courier.id, address: 'Tea Lane 2', grams: 300 };
    const { body } = await call(buyer, 'POST', '/deliveries', given);
    const path = `/deliveries/${body?.id as string}`;
    expect((await call(courier, 'DELETE', path)).status).toBe(403);
    expect((await call(buyer, 'DELETE', path)).status).toBe(204);
    expect(await call(admin, 'GET', path)).toEqual(refused(404, 'Delivery not found'));
    expect((await call(buyer, 'POST', `${path}/restore`)).status).toBe(403);
    expect(await call(admin, 'POST', `${path}/restore`)).toMatchObject({ status: 200, body: { grams: 300 } });
    expect((await call(buyer, 'GET', path)).status).toBe(200);
  });

  it('is changed and deleted only in the version that the caller names', async () => {
    const { body } = await call(buyer, 'POST', '/deliveries', { courierId: courier.id, address: 'Tea Lane 3', grams: 100 });
    const path = `/deliveries/${body?.id as string}`;
    const authorization = `Bearer ${buyer.accessToken}`;
    const read = (headers = {}) => fetch(host.url + path, { headers: { authorization, ...headers } });
    const tag = (await read()).headers.get('etag') ?? '';
    expect((await read({ 'if-none-match': tag })).status).toBe(304);
    const known = { authorization, 'if-match': tag };
    expect(await host.call('PATCH', path, { grams: 150 }, known)).toMatchObject({ status: 200 });
    expect(await host.call('PATCH', path, { grams: 200 }, known)).toEqual(refused(412, 'Precondition Failed'));
    expect(await host.call('DELETE', path, undefined, known)).toEqual(refused(412, 'Precondition Failed'));
    const stale = { authorization: `Bearer ${courier.accessToken}`, 'if-match': tag };
    const arrive = host.call('POST', `${path}/arrive`, undefined, stale);
    expect(await arrive).toEqual(refused(412, 'Precondition Failed'));
    const arriveByTrpc = host.call('POST', '/trpc/deliveries.arrive', { deliveryId: body?.id }, stale);
    expect(await arriveByTrpc).toMatchObject({ status: 412 });
    expect((await call(buyer, 'GET', path)).body).toMatchObject({ grams: 150, arrivedAt: null });
    const arrived = await call(courier, 'POST', `${path}/arrive`);
    expect(arrived).toMatchObject({ status: 200, body: { grams: 150, arrivedAt: expect.any(String) as string } });
    expect((await read({ 'if-none-match': tag })).status).toBe(200);
  });

  it('is listed by every convention, within what the caller may see', async () => {
    const mia = await app.signUp();
    for (const grams of [100, 300, 200])
      await call(mia, 'POST', '/deliveries', { courierId: courier.id, address: "Mia's", grams });
    const ask = async (query: Record<string, string>, who: Person = mia) =>
      (await call(who, 'GET', `/deliveries?${new URLSearchParams(query).toString()}`)).body as unknown as Rows;
    expect((await ask({ $filter: "grams ge 200 and address eq 'Mia''s'" })).data).toHaveLength(2);
    expect((await ask({ courierId: buyer.id })).data).toEqual([]);
    const page = { $orderby: 'grams desc', $top: '2' };
    const { value, nextToken } = await ask(page);
    expect(value).toMatchObject([{ grams: 300 }, { grams: 200 }]);
    expect((await ask({ ...page, $nextToken: nextToken })).value).toMatchObject([{ grams: 100 }]);
    const $apply = 'aggregate(grams with sum as total)';
    expect((await ask({ $apply })).value).toEqual([{ total: 600 }]);
    expect((await ask({}, courier)).data).toEqual([]);
    expect((await ask({ $filter: `buyerId eq '${mia.id}'` }, admin)).data).toHaveLength(3);
  });

  it('is told of by events: in the log, to handlers of the host and to webhooks', async () => {
    const types = ['delivery.*'];
    expect(await call(admin, 'POST', '/webhooks', { url: 'https://receiver.invalid/', types })).toMatchObject({ status: 201 });
    const given = { courierId: courier.id, address: 'Tea Lane 4', grams: 100 };
    const { body } = await call(buyer, 'POST', '/deliveries', given);
    await expect.poll(() => made, PATIENCE).toContain(body?.id);
    const page = (await call(admin, 'GET', '/events?types=delivery.created&limit=200')).body as unknown as Rows;
    expect(page.data.at(-1)).toMatchObject({ type: 'delivery.created', actor: { id: buyer.id }, data: body });
  });

  it('is in the OpenAPI document: texts, rules, errors, list', async () => {
    const document = await tandem.openApi({ title: '', description: '', version: '', url: '/' });
    const { tags, paths, components } = document;
    expect(tags).toContainEqual({ name: 'deliveries', description: 'Parcels on their way to their buyers.' });
    expect(paths['/deliveries/{deliveryId}']?.get?.['x-who']).toBe('an admin, its buyer or its courier');
    const conflict = resolveReference(document, paths['/deliveries/{deliveryId}/arrive']?.post?.responses['409'] ?? {});
    expect(conflict).toMatchObject({ description: 'Delivery has already arrived' });
    expect(components.schemas).toHaveProperty('DeliveryList');
  });
});

it("fields of the host's own are those of products", async () => {
  const { createShelvedTandem } = await runSample<{ createShelvedTandem(given: object): Promise<Tandem> }>(
    sampleOf('docs/embedding.md', 'createShelvedTandem'),
  );
  const ownStorage = await openStorage({ uri: app.mongodbUri });
  const shelved = await createShelvedTandem({ storage: ownStorage, authSecrets: TEST_SECRETS });
  await ownStorage.ensureIndexes();
  {
    await using shop = await listen(express().use(shelved.routes(), ...shelved.errorMiddlewares()));
    const authorization = `Bearer ${admin.accessToken}`;
    const made = await shop.call('POST', '/products', { name: 'Tea', description: '', gtin: '4711' }, { authorization });
    expect(made).toMatchObject({ status: 201, body: { gtin: '4711', rank: 0 } });
    const found = await shop.call('GET', `/products?${new URLSearchParams({ $filter: "gtin eq '4711'" }).toString()}`);
    expect(found.body).toMatchObject({ data: [{ id: made.body?.id, gtin: '4711' }] });
  }
  await shelved.close();
  await ownStorage.close();
});
