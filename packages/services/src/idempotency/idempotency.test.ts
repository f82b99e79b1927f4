import { randomUUID } from 'node:crypto';
import { operationsOf, takesKey } from '@tandem/core';
import {
  FACES,
  NO_ID,
  databaseOf,
  failing,
  fixture,
  isCommand,
  startStoreProxy,
  startTestServer,
  type Face,
  type Outcome,
  type Person,
  type TestServer,
} from '@tandem/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createsOf, withoutSecret } from '../../test/creates.js';
import { categoryModel } from '../categories/category.model.js';
import { locationModel } from '../locations/location.model.js';
import { idempotencyKeyModel } from './idempotency-key.model.js';

const ATTEMPTS = 20;
const DAY_MS = 24 * 60 * 60_000;
const DEADLINE_MS = 14_000;
const REUSED = failing(422, 'Idempotency-Key was used with another body');

const app = fixture(() => startTestServer());
const other = fixture(() => startTestServer({ clock: app.clock }));
let admin: Person;
beforeAll(async () => {
  admin = await app.signUpAdmin();
});
const creates = createsOf(app, () => admin);

const send = (face: Face, name: string, input: object, key: string, by = admin, on: TestServer = app): Promise<Outcome> =>
  on.call(face, name, input as Record<string, unknown>, { ...by.credentials, headers: { 'idempotency-key': key } });
const idOf = (outcome: Outcome) => outcome.ok && (outcome.value as { id: string }).id;

it('is taken by every POST that creates, but below /auth and for tickets', () => {
  const all = operationsOf(app.tandem.router);
  const creating = all.filter(
    ({ method, path, status }) => method === 'POST' && status === 201 && !/^\/auth\/|\/tickets$|\/test$/.test(path),
  );
  expect(all.filter(takesKey).map(({ name }) => name)).toEqual(creating.map(({ name }) => name));
  expect(Object.keys(creates).toSorted()).toEqual(creating.map(({ name }) => name).toSorted());
});

describe.each(FACES)('an Idempotency-Key over %s', (face) => {
  const tea = () => ({ name: randomUUID(), description: '' });
  const create = (input: object, key: string, by = admin, on: TestServer = app) =>
    send(face, 'categories.create', input, key, by, on);
  const kept = () => app.storage.model(idempotencyKeyModel).countDocuments();

  describe.each(Object.entries(creates))('of %s', (name, { prepare, records = 1, other: changed }) => {
    it('creates once, of many attempts at once on two instances, and answers each the same, on both faces', async () => {
      const [{ input, count }, key] = [await prepare(), randomUUID()];
      const sent = Array.from({ length: ATTEMPTS }, (_, n) => send(face, name, input, key, admin, n % 2 ? app : other));
      const [first, ...more] = (await Promise.all(sent)).map(withoutSecret);
      expect(first).toMatchObject({ ok: true });
      for (const one of more) expect(one).toEqual(first);
      const again = await send(face === 'rest' ? 'trpc' : 'rest', name, input, key);
      expect(again).toEqual(first);
      expect(again).not.toHaveProperty('value.secret');
      expect(await count()).toBe(records);
      expect(await send(face, name, { ...input, ...changed }, key)).toEqual(REUSED);
    });
  });

  it('answers with the same ETag', async () => {
    if (face === 'trpc') return;
    const headers = { 'idempotency-key': randomUUID() };
    const post = () => app.rest('POST', '/categories', given, { ...admin.credentials, headers });
    const given = tea();
    const tags = [await post(), await post()].map((answer) => answer.headers.get('etag'));
    expect(tags).toEqual([expect.stringMatching(/^"[\w-]+\.1"$/), tags[0]]);
  });

  it('is another one for another operation and another caller', async () => {
    const [key, input, bob] = [randomUUID(), tea(), await app.signUpAdmin()];
    const ids = [
      idOf(await create(input, key)),
      idOf(await create(input, key, bob)),
      idOf(await send(face, 'products.create', input, key)),
    ];
    expect(new Set(ids.map((id) => typeof id))).toEqual(new Set(['string']));
    expect(new Set(ids).size).toBe(3);
  });

  it('answers as at first, whatever has become of the record, and is free after 24 hours', async () => {
    const [key, input] = [randomUUID(), tea()];
    const first = await create(input, key);
    await admin.rest('PATCH', `/categories/${String(idOf(first))}`, { description: 'newer' }).expect(200);
    await admin.rest('DELETE', `/categories/${String(idOf(first))}`).expect(204);
    expect(await create(input, key)).toEqual(first);
    await using later = await startTestServer();
    later.clock.advance(DAY_MS - 60_000);
    const adminLater = await later.signIn(admin.email);
    expect(await create(input, key, adminLater, later)).toEqual(first);
    later.clock.advance(60_001);
    const again = await create({ ...input, description: 'other' }, key, adminLater, later);
    expect(again).toMatchObject({ ok: true });
    expect(idOf(again)).not.toBe(idOf(first));
  });

  it('still asks who may: nothing is answered to who may no longer', async () => {
    const [key, input, was] = [randomUUID(), tea(), await app.signUpAdmin()];
    expect(await create(input, key, was)).toMatchObject({ ok: true });
    await admin.rest('PATCH', `/identities/${was.id}`, { typeId: 'regular' }).expect(200);
    const demoted = await app.signIn(was.email);
    expect(await create(input, key, demoted)).toMatchObject({ ok: false, status: 403 });
  });

  it('is not kept for a refused attempt', async () => {
    const [key, before] = [randomUUID(), await kept()];
    expect(await create({ ...tea(), parent: NO_ID }, key)).toEqual(failing(404, 'Category not found'));
    expect(await create({}, key)).toMatchObject({ ok: false, status: 400 });
    expect(await kept()).toBe(before);
    expect(await create(tea(), key)).toMatchObject({ ok: true });
  });

  it('has 1 to 255 characters, and is stored as a hash', async () => {
    const key = face.padEnd(255, randomUUID());
    expect(await create(tea(), key)).toMatchObject({ ok: true });
    expect(await create(tea(), `${key}k`)).toEqual({
      ...failing(400, 'Validation Error'),
      data: ["header 'Idempotency-Key' must have 1 to 255 characters"],
    });
    expect(JSON.stringify(await app.storage.model(idempotencyKeyModel).find().lean())).not.toContain(key);
  });

  it('is ignored where nothing is created', async () => {
    const [{ id }, key, before] = [await admin.rest('POST', '/categories', tea()).expect<{ id: string }>(201), 'k', await kept()];
    const patch = (description: string) => send(face, 'categories.patch', { categoryId: id, description }, key);
    expect(await patch('one')).toMatchObject({ ok: true, value: { description: 'one' } });
    expect(await patch('two')).toMatchObject({ ok: true, value: { description: 'two' } });
    expect(await send(face, 'categories.list', {}, 'k'.repeat(256))).toMatchObject({ ok: true });
    expect(await kept()).toBe(before);
  });
});

it('an Idempotency-Key is refused for several calls in one request', async () => {
  const call = (calls: string, body: object) =>
    fetch(`${app.url}/trpc/${calls}?batch=1`, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': randomUUID() },
      body: JSON.stringify(body),
    });
  const headers = { authorization: `Bearer ${admin.accessToken}`, 'content-type': 'application/json' };
  const tea = { name: 'Tea', description: '' };
  const refused = await call('categories.create,categories.create', { 0: tea, 1: tea });
  expect(refused.status).toBe(400);
  expect(JSON.stringify(await refused.json())).toContain("header 'Idempotency-Key' must be sent with one call");
  expect((await call('categories.create', { 0: tea })).status).toBe(200);
});

it('an Idempotency-Key is described once for all operations that take it', async () => {
  const document = JSON.stringify(await (await fetch(`${app.url}/openapi.json`)).json());
  const taking = document.split('"#/components/parameters/Idempotency-Key"').length - 1;
  expect(taking).toBe(Object.keys(creates).length);
  expect(document.split('Makes the request safe to retry').length - 1).toBe(1);
  expect(document.split('Idempotency-Key was used with another body').length - 1).toBeLessThanOrEqual(taking);
});

it('without an Idempotency-Key nothing is stored for it', async () => {
  const before = await app.storage.model(idempotencyKeyModel).countDocuments();
  await admin.rest('POST', '/categories', { name: 'Tea', description: '' }).expect(201);
  expect(await app.storage.model(idempotencyKeyModel).countDocuments()).toBe(before);
});

describe('an attempt with an Idempotency-Key', () => {
  const proxy = fixture(() => startStoreProxy(databaseOf('attempts')));
  const cut = fixture(() => startTestServer({ mongodbUri: proxy.uri }));
  const beside = fixture(() => startTestServer({ mongodbUri: cut.mongodbUri, clock: cut.clock }));
  let person: Person;
  beforeAll(async () => {
    person = await cut.signUpAdmin();
  });
  const create = (on: TestServer, input: object, key: string) => send('rest', 'categories.create', input, key, person, on);
  const count = ({ name }: { name: string }) => cut.storage.model(categoryModel).countDocuments({ name });
  const given = () => ({ name: randomUUID(), description: '' });

  it('waits while another one is under way, and is answered as that', async () => {
    const [key, input] = [randomUUID(), given()];
    const held = proxy.hold(isCommand('categories.insert'));
    const first = create(cut, input, key);
    await held.reached;
    const looked = proxy.seen(isCommand('idempotencyKeys.find'), 2);
    const second = create(cut, input, key);
    await looked;
    held.release();
    expect(await second).toEqual(await first);
    expect(await count(input)).toBe(1);
  });

  it('waits no longer than its caller', async () => {
    const { keptAnswers } = cut.tandem.facts;
    const input = given();
    const call = { identityId: person.id, operation: 'categories.create', key: randomUUID(), given: input, input };
    await keptAnswers?.begin(call, () => undefined);
    const caller = new AbortController();
    const looked = proxy.seen(isCommand('idempotencyKeys.find'));
    const waiting = keptAnswers?.begin(call, () => caller.signal);
    await looked;
    caller.abort(new Error('the caller has left'));
    await expect(waiting).rejects.toThrow('the caller has left');
  });

  it.each(['before', 'after'] as const)('whose insert was cut off %s the store had it is repeated at once', async (when) => {
    const [key, input] = [randomUUID(), given()];
    const wasCut = proxy.cut(isCommand('categories.insert'), when);
    expect(await create(cut, input, key)).toMatchObject({ ok: false, status: 503 });
    await wasCut;
    expect(await create(cut, { ...input, description: 'other' }, key)).toEqual(REUSED);
    const again = await create(beside, input, key);
    expect(again).toMatchObject({ ok: true });
    expect(await create(cut, input, key)).toEqual(again);
    expect(await count(input)).toBe(1);
  });

  it.each(['trees.update', 'locations.update'])('at a tree that was cut off after %s is completed', async (write) => {
    const [key, input] = [randomUUID(), { name: randomUUID(), code: 'P', type: 'CITY' }];
    const attempt = (on: TestServer) => send('rest', 'locations.create', input, key, person, on);
    const wasCut = proxy.cut(isCommand(write), 'after');
    expect(await attempt(cut)).toMatchObject({ ok: false, status: 503 });
    await wasCut;
    const again = await attempt(beside);
    expect(again).toMatchObject({ ok: true });
    expect(await attempt(cut)).toEqual(again);
    expect(await cut.storage.model(locationModel).countDocuments({ name: input.name })).toBe(1);
  });

  it.each(['before', 'after'] as const)('whose answer could not be kept is repeated (cut %s)', async (when) => {
    const [key, input] = [randomUUID(), given()];
    const wasCut = proxy.cut(isCommand('idempotencyKeys.update'), when);
    expect(await create(cut, input, key)).toMatchObject({ ok: false, status: 503 });
    await wasCut;
    expect(await create(cut, input, key)).toMatchObject({ ok: true });
    expect(await count(input)).toBe(1);
  });

  it('that comes late, when the next one has begun, stores nothing more', async () => {
    const [key, input] = [randomUUID(), given()];
    const held = proxy.hold(isCommand('categories.insert'));
    const late = create(cut, input, key);
    await held.reached;
    cut.clock.advance(DEADLINE_MS + 1);
    const next = await create(beside, input, key);
    held.release();
    expect(await late).toMatchObject({ ok: false, status: 500 });
    expect(await create(cut, input, key)).toEqual(next);
    expect(await count(input)).toBe(1);
  });

  it('that finds the record of one that comes late answers it, unless a failover could take it back', async () => {
    const [key, input] = [randomUUID(), given()];
    const wasCut = proxy.cut(isCommand('categories.insert'), 'after');
    expect(await create(cut, input, key)).toMatchObject({ ok: false, status: 503 });
    await wasCut;
    const nothing = { ok: 1, cursor: { id: 0n, ns: 'attempts.categories', firstBatch: [] } };
    const hidden = proxy.answer(isCommand('categories.find'), nothing, 2);
    expect(await create(cut, input, key)).toMatchObject({ ok: false, status: 503 });
    expect((await hidden).body['readConcern']).toEqual({ level: 'majority' });
    expect(await create(cut, input, key)).toMatchObject({ ok: true, value: input });
    expect(await count(input)).toBe(1);
  });
});
