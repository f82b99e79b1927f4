import { createTRPCClient, createWSClient, wsLink } from '@trpc/client';
import { PATIENCE, fixture, newEmail, openStream, startTestServer, type Person, type TestServer } from '@tandem/testing';
import { beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { categoryModel } from '../categories/category.model.js';
import type { AppRouter } from '../router.js';

const app = fixture(startTestServer);
const other = fixture(() => startTestServer({ clock: app.clock }));
let admin: Person;
beforeAll(async () => {
  admin = await app.signUpAdmin();
});

/** What the driver tells of a command. */
interface Told {
  requestId: number;
  command?: { find?: string; filter?: { organizationId?: string } };
}

type Asked = { since?: string; types?: string; organizationId?: string; lastEventId?: string };

/** What a stream of events yields, by type, and how it fails. */
async function stream(person: Person, asked: Asked, server: TestServer = app) {
  const client = createWSClient({
    url: `${server.url.replace('http', 'ws')}/trpc`,
    connectionParams: { authorization: `Bearer ${person.accessToken}` },
    WebSocket: WebSocket as never,
    retryDelayMs: () => 60_000,
  });
  onTestFinished(() => void client.close());
  const api = createTRPCClient<AppRouter>({ links: [wsLink({ client })] });
  const types: string[] = [];
  const ids: string[] = [];
  const failures: string[] = [];
  await new Promise<void>((resolve) => {
    api.events.stream.subscribe(asked, {
      onStarted: () => resolve(),
      onData: ({ id, data }) => {
        ids.push(id);
        types.push(data.type);
      },
      onError: ({ message }) => {
        failures.push(message);
        resolve();
      },
    });
  });
  const until = (expected: string[]) => vi.waitFor(() => expect(types).toEqual(expected), { timeout: 10_000 });
  return { ids, types, failures, until };
}

const make = (server: TestServer = app) =>
  server.rest('POST', '/categories', { name: 'Tea', description: '' }, admin.credentials).expect<{ id: string }>(201);

it('events reach a stream as they happen, on any instance, and after an interruption from the last one received', async () => {
  const asked = { types: 'category.*' };
  const [here, there] = await Promise.all([stream(admin, asked), stream(admin, asked, other)]);
  const { id } = await make();
  await admin.rest('PATCH', `/categories/${id}`, { name: 'Rye' }).expect(200);
  await admin.rest('POST', '/attributes', { name: 'x', items: [{ key: 'k', value: 'v' }] }).expect(201);
  await admin.rest('DELETE', `/categories/${id}`).expect(204);
  const all = ['category.created', 'category.updated', 'category.deleted'];
  await Promise.all([here.until(all), there.until(all)]);
  expect(there.ids).toEqual(here.ids);
  const resumed = await stream(admin, { ...asked, lastEventId: String(here.ids[0]) }, other);
  await resumed.until(all.slice(1));
});

it('an event is read for one stream of a caller after the other, so that many of them leave room to others', async () => {
  const mongodbUri = `${app.mongodbUri}${app.mongodbUri.includes('?') ? '&' : '?'}monitorCommands=true`;
  await using watched = await startTestServer({ mongodbUri, clock: app.clock });
  const owner = await watched.signUp();
  const organization = { name: `Tea ${owner.id}`, description: '', contact_email: newEmail() };
  const { id: organizationId } = await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
  const streams = await Promise.all(Array.from({ length: 15 }, () => stream(owner, { organizationId }, watched)));
  const reads = { underWay: new Set<number>(), most: 0 };
  const client = watched.storage.model(categoryModel).db.getClient();
  client.on('commandStarted', ({ requestId, command }: Told) => {
    if (command?.filter?.organizationId === organizationId && command.find === 'events') reads.underWay.add(requestId);
    reads.most = Math.max(reads.most, reads.underWay.size);
  });
  for (const end of ['commandSucceeded', 'commandFailed'] as const)
    client.on(end, ({ requestId }: Told) => reads.underWay.delete(requestId));
  await owner.rest('POST', '/products', { name: 'Rye', description: '', organizationId }).expect(201);
  for (const { types } of streams) await expect.poll(() => types, PATIENCE).toContain('product.created');
  expect(reads.most).toBe(1);
});

it('of the streams of a socket that takes nothing, a few are read, so that it holds little', async () => {
  const mongodbUri = `${app.mongodbUri}${app.mongodbUri.includes('?') ? '&' : '?'}monitorCommands=true`;
  await using watched = await startTestServer({ mongodbUri, clock: app.clock });
  const owner = await watched.signUp();
  const organization = { name: `Tea ${owner.id}`, description: '', contact_email: newEmail() };
  const { id: organizationId } = await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
  // a page of them is more than the kernel keeps of a connection
  const product = { name: 'Rye', description: '茶'.repeat(10_000), organizationId };
  for (let made = 0; made < 60; made += 20)
    await owner
      .rest(
        'POST',
        '/products/batch',
        Array.from({ length: 20 }, () => product),
      )
      .expect(201);
  const { data } = await owner.rest('GET', `/events?organizationId=${organizationId}&limit=1`).expect<{ data: [{ id: string }] }>(200); // prettier-ignore
  const asked = { organizationId, since: data[0].id };
  let reads = 0;
  const client = watched.storage.model(categoryModel).db.getClient();
  client.on('commandStarted', ({ command }: Told) => {
    if (command?.filter?.organizationId === organizationId && command.find === 'events') reads += 1;
  });
  const full = await openStream(watched.url, '/trpc', owner.credentials);
  onTestFinished(() => full.socket.terminate());
  full.socket.pause();
  for (let id = 1; id <= 20; id++) full.send({ id, method: 'subscription', params: { path: 'events.stream', input: asked } });
  // reads of a caller wait for each other: what this one is told comes after all that those have asked for
  const { types } = await stream(owner, asked, watched);
  await expect.poll(() => types.length, PATIENCE).toBeGreaterThan(0);
  expect(reads).toBeGreaterThan(1);
  expect(reads).toBeLessThan(15);
});

it('who loses the role that lets them read gets no more', async () => {
  const [owner, second] = await Promise.all([app.signUp(), app.signUp()]);
  const organization = { name: `Tea ${owner.id}`, description: '', contact_email: newEmail() };
  const { id: organizationId } = await owner.rest('POST', '/organizations', { organization }).expect<{ id: string }>(201);
  const members = (role: string) =>
    owner.rest('PATCH', `/organizations/${organizationId}/members`, [{ identityId: second.id, role }]).expect(204);
  await members('admin');
  const read = await stream(second, { organizationId });
  await owner.rest('POST', '/products', { name: 'Rye', description: '', organizationId }).expect(201);
  await read.until(['product.created']);
  await members('member');
  await vi.waitFor(() => expect(read.failures).toEqual(['Identity is not authorized to access this resource']), {
    timeout: 10_000,
  });
  expect(read.types).toEqual(['product.created']);
});

it('a stream is refused to those who may not read the events', async () => {
  const stranger = await app.signUp();
  const { failures } = await stream(stranger, {});
  expect(failures).toEqual(['Identity is not authorized to access this resource']);
});
