import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { createTandem } from '@tandem/services';
import { openStorage } from '@tandem/storage';
import {
  PASSWORD,
  TEST_SECRETS,
  databaseOf,
  fixture,
  isCommand,
  makeFolder,
  startStoreProxy,
  startTestServer,
} from '@tandem/testing';
import express from 'express';
import { expect, it } from 'vitest';
import { createApp } from '../packages/create-tandem/templates/host/src/app.js';
import { readSettings } from '../packages/create-tandem/templates/host/src/settings.js';
import { tasks } from '../packages/create-tandem/templates/host/src/tasks.js';
import { listen } from './host-application.js';

const proxy = fixture(() => startStoreProxy(databaseOf('tasks')));
const app = fixture(() => startTestServer({ mongodbUri: proxy.uri }));
const person = fixture(() => app.signUp());
/** Tasks of the template, at its own address. */
const host = fixture(async () => {
  const storage = await openStorage({ uri: proxy.uri });
  const tandem = await createTandem({ storage, authSecrets: TEST_SECRETS, ownServices: [tasks] });
  await storage.ensureIndexes();
  const listening = await listen(express().use(tandem.routes(), ...tandem.errorMiddlewares()));
  return {
    ...listening,
    storage,
    tandem,
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]();
      await tandem.close();
      await storage.close();
    },
  };
});

interface TaskEvent {
  type: string;
  data: { ownerId: string; title: string };
}

const folder = fixture(makeFolder);

/** The template's application, listening. */
async function openApp(...given: Parameters<typeof createApp>) {
  const application = await createApp(...given);
  const listening = await listen(application.app);
  return {
    ...listening,
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]();
      await application.close();
    },
  };
}

const call = (method: string, route: string, body?: object, headers: Record<string, string> = {}) =>
  host.call(method, route, body, { authorization: `Bearer ${person.accessToken}`, ...headers });

it('a task that was stored without its answer is answered when it is sent again', async () => {
  const create = () => call('POST', '/tasks', { title: 'Sweep' }, key);
  const key = { 'idempotency-key': randomUUID() };
  const wasCut = proxy.cut(isCommand('tasks.insert'), 'after');
  expect(await create()).toMatchObject({ status: 503 });
  await wasCut;
  const again = await create();
  expect(again).toMatchObject({ status: 201, body: { title: 'Sweep' } });
  expect((await call('GET', '/tasks')).body).toMatchObject({ data: [{ id: again.body?.['id'] }] });
});

it('a task is changed only in the version that the caller names', async () => {
  const { body } = await call('POST', '/tasks', { title: 'Water the plants' });
  const path = `/tasks/${String(body?.['id'])}`;
  const read = await fetch(host.url + path, { headers: { authorization: `Bearer ${person.accessToken}` } });
  const known = { 'if-match': read.headers.get('etag') ?? '' };
  expect(await call('PATCH', path, { done: true }, known)).toMatchObject({ status: 200, body: { done: true } });
  expect(await call('PATCH', path, { done: false }, known)).toMatchObject({ status: 412 });
  expect(await call('DELETE', path, undefined, known)).toMatchObject({ status: 412 });
  expect((await call('GET', path)).body).toMatchObject({ done: true });
});

it('the log of events loses the titles of tasks whose owner is erased', async () => {
  const { id, accessToken } = await app.signUp();
  const headers = { authorization: `Bearer ${accessToken}` };
  await host.call('POST', '/tasks', { title: 'Call the clinic' }, headers);
  const { events, people } = host.storage;
  const ended = async () => {
    await events.last();
    const { changed, left } = await people.erase({ id, emails: [] }, { blank: false });
    return changed + left + (await people.eraseEvents({ id, emails: [] }, { blank: false }));
  };
  await expect.poll(ended, { timeout: 10_000 }).toBe(0);
  const { data } = await host.tandem.services.events.read({ types: 'task.*' }, true);
  const found = (data as object as TaskEvent[]).filter((event) => event.data.ownerId === id);
  expect(found.map((event) => [event.type, event.data.title])).toEqual([
    ['task.created', ''],
    ['task.deleted', ''],
  ]);
});

it('the folder of data is open to its owner alone', () => {
  const { dataDir } = readSettings({ DATA_DIR: path.join(folder.path, 'new') });
  expect(statSync(dataDir).mode & 0o077).toBe(0);
});

it('an empty setting counts as not set, and a secret that is set alone is used', () => {
  const empty = { PORT: '', MONGODB_URI: '', TRUST_PROXY: '', AUTH_SIGN_SECRET: '' };
  const read = (more: object) => readSettings({ DATA_DIR: folder.path, ...empty, ...more });
  expect(read({})).toMatchObject({ port: 3000, mongodbUri: undefined, trustProxy: 0 });
  const { authSignSecret } = read({}).secrets;
  expect(authSignSecret).toHaveLength(64);
  expect(read({ AUTH_ENC_SECRET: 'mine' }).secrets).toEqual({ authEncSecret: ['mine'], authSignSecret });
  expect(read({ AUTH_SIGN_SECRET: 'mine' }).secrets).toMatchObject({ authSignSecret: ['mine'] });
  expect(() => read({ AUTH_ENC_SECRET: 'mine', NODE_ENV: 'production' })).toThrow('set both');
});

it('a secret is rotated by a list', () => {
  const [AUTH_ENC_SECRET, AUTH_SIGN_SECRET] = ['old, new', 'mine'];
  const { secrets } = readSettings({ DATA_DIR: folder.path, AUTH_ENC_SECRET, AUTH_SIGN_SECRET });
  expect(secrets).toEqual({ authEncSecret: ['old', 'new'], authSignSecret: ['mine'] });
});

it('the first admin is made from the environment, with an address and a password', async () => {
  const read = (more: object) => readSettings({ DATA_DIR: folder.path, MONGODB_URI: proxy.uri, ...more });
  const email = 'first@example.org';
  expect(() => read({ BOOTSTRAP_ADMIN_EMAIL: email })).toThrow('set both or none');
  const settings = read({ BOOTSTRAP_ADMIN_EMAIL: email, BOOTSTRAP_ADMIN_PASSWORD: PASSWORD });
  await using own = await openApp(settings);
  const { body } = await own.call('POST', '/auth/login', { email, password: PASSWORD });
  const headers = { authorization: `Bearer ${String(body?.['accessToken'])}` };
  // others get 403
  expect(await own.call('POST', `/tasks/${randomUUID()}/restore`, undefined, headers)).toMatchObject({ status: 404 });
});

it('the application is healthy while its database answers', async () => {
  const settings = { ...readSettings({ DATA_DIR: folder.path }), mongodbUri: proxy.uri };
  await using own = await openApp(settings);
  expect(await own.call('GET', '/health')).toEqual({ status: 200, body: { ok: true } });
  void proxy.answer(({ command }) => command === 'ping', { ok: 0, code: 50, codeName: 'MaxTimeMSExpired', errmsg: 'too slow' });
  expect(await own.call('GET', '/health')).toEqual({ status: 503, body: { ok: false } });
});

it('an engine that ends is told of, and started again', async () => {
  const warnings: string[] = [];
  const log = { debug() {}, info() {}, error() {}, warn: (_facts: object, text: string) => void warnings.push(text) };
  const settings = readSettings({ DATA_DIR: path.join(folder.path, 'engine') });
  await using own = await openApp(settings, log);
  process.kill(Number(readFileSync(path.join(settings.dataDir, 'mongod.lock'), 'utf8')), 'SIGKILL');
  await expect.poll(() => warnings, { timeout: 10_000 }).toContain('the embedded database ended');
  await expect.poll(() => own.call('GET', '/health'), { timeout: 20_000 }).toMatchObject({ status: 200 });
});
