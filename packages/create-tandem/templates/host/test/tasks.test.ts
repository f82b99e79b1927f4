import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createTandemClient, describeFailure } from '@tandem/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApp, type AppRouter } from '../src/app.js';

const secret = 'a text of thirty-two bytes or more';
const secrets = { authEncSecret: secret, authSignSecret: secret };
const password = 'tea at the harbour';

let dataDir: string;
let url: string;
let application: Awaited<ReturnType<typeof createApp>>;
let server: Server;

beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'tasks-'));
  application = await createApp({ dataDir, mongodbUri: undefined, trustProxy: 0, secrets });
  server = createServer(application.app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}, 60_000);

afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await application.close();
  await rm(dataDir, { recursive: true });
});

/** A typed client that has signed up. */
async function signUp(name: string) {
  const client = createTandemClient<AppRouter>({ url });
  const { id } = await client.signUp({ email: `${name}@example.org`, password });
  return { api: client.api, id };
}
const statusOf = (call: Promise<unknown>) =>
  call.then(
    () => 200,
    (error: unknown) => describeFailure(error).status,
  );

it('tasks belong to the one who has created them', async () => {
  const { api: ann, id: annId } = await signUp('ann');
  const { api: bob } = await signUp('bob');
  const { id: taskId } = await ann.tasks.create.mutate({ title: 'Water the plants' });
  await ann.tasks.create.mutate({ title: 'Buy tea', done: true });

  const open = await ann.tasks.list.query({ $filter: 'done eq false', $top: 10 });
  expect(open).toMatchObject({ total: 1, value: [{ id: taskId, title: 'Water the plants', ownerId: annId }] });
  expect((await bob.tasks.list.query({})).data).toEqual([]);
  expect(await statusOf(bob.tasks.patch.mutate({ taskId, done: true }))).toBe(403);

  expect(await ann.tasks.patch.mutate({ taskId, done: true })).toMatchObject({ done: true });
  expect((await ann.notifications.list.query({ identityId: annId })).data).toMatchObject([{ kind: 'task.done' }]);
});

it('deleted tasks are gone until an admin restores them', async () => {
  const { api: cleo } = await signUp('cleo');
  const { id: taskId } = await cleo.tasks.create.mutate({ title: 'Sweep' });
  await cleo.tasks.delete.mutate({ taskId });
  expect(await statusOf(cleo.tasks.get.query({ taskId }))).toBe(403);
  expect(await statusOf(cleo.tasks.restore.mutate({ taskId }))).toBe(403);

  const admin = createTandemClient<AppRouter>({ url });
  await application.tandem.services.authentication.createAdmin({ email: 'admin@example.org', password });
  await admin.signIn({ email: 'admin@example.org', password });
  await admin.api.tasks.restore.mutate({ taskId });
  expect(await cleo.tasks.get.query({ taskId })).toMatchObject({ title: 'Sweep' });
});

it('the OpenAPI document has the tasks and Tandem’s own operations', async () => {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
  expect(paths).toMatchObject({ '/tasks/{taskId}/restore': {}, '/auth/login': {} });
});
