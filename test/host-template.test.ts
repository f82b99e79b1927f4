import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import path from 'node:path';
import { createTandem } from '@tandem/services';
import { openStorage } from '@tandem/storage';
import { TEST_SECRETS, databaseOf, fixture, isCommand, makeFolder, startStoreProxy, startTestServer } from '@tandem/testing';
import express from 'express';
import { expect, it } from 'vitest';
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
    async [Symbol.asyncDispose]() {
      await listening[Symbol.asyncDispose]();
      await tandem.close();
      await storage.close();
    },
  };
});

const folder = fixture(makeFolder);

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

it('the folder of data is open to its owner alone', () => {
  const { dataDir } = readSettings({ DATA_DIR: path.join(folder.path, 'new') });
  expect(statSync(dataDir).mode & 0o077).toBe(0);
});
