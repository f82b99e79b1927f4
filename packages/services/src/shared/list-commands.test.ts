import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { operationsOf } from '@tandem/core';
import { resourceOfInput } from '@tandem/lists';
import { startTestServer, type TestServer } from '@tandem/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { EVERY_LIST, documentedLists, fillEveryList } from '../../test/every-list.js';
import { notificationModel } from '../notifications/notification.model.js';

/** As many as the longest page has. */
const ROWS = 50;

/** What the driver tells of a command. */
interface Started {
  commandName: string;
  command: Record<string, unknown>;
}

let home: TestServer;
/** Another instance, of which nothing is asked but the lists: what the first one has still to do is not counted. */
let app: TestServer;
let world: Awaited<ReturnType<typeof fillEveryList>>;
let commands: string[] = [];
/** What was read of each collection. */
let projections = new Map<string, unknown>();
/** Set in all that a request does: what the instance does by itself, now and then, is not counted. */
const requests = new AsyncLocalStorage<true>();
const noteRequest = () => requests.enterWith(true);
beforeAll(async () => {
  subscribe('http.server.request.start', noteRequest);
  home = await startTestServer();
  world = await fillEveryList(home, ROWS);
  const mongodbUri = `${home.mongodbUri}${home.mongodbUri.includes('?') ? '&' : '?'}monitorCommands=true`;
  app = await startTestServer({ mongodbUri });
  const client = app.storage.model(notificationModel).db.getClient();
  client.on('commandStarted', ({ commandName, command }: Started) => {
    if (!requests.getStore()) return;
    commands.push(`${commandName} ${String(command[commandName])}`);
    const { pipeline = [], projection } = command as { pipeline?: { $project?: unknown }[]; projection?: unknown };
    projections.set(String(command[commandName]), projection ?? pipeline.find(({ $project }) => $project)?.$project);
  });
  // copies of what is looked up live for a second: on a busy machine one page would find them, and another not
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
}, 300_000);
afterAll(async () => {
  vi.mocked(performance.now).mockRestore();
  await app.close();
  await home.close();
  unsubscribe('http.server.request.start', noteRequest);
});

/** What an answer took: its rows, the commands, and what was read of each collection. */
interface Taken {
  rows: number;
  commands: string[];
  projections: ReadonlyMap<string, unknown>;
}

async function ask(procedure: string, query: Record<string, unknown>): Promise<Taken> {
  const { person, input } = EVERY_LIST[procedure as keyof typeof EVERY_LIST](world);
  commands = [];
  projections = new Map();
  const outcome = await app.call('rest', procedure, { ...input, ...query }, person.credentials);
  const { data, value } = (outcome as { value: { data?: unknown[]; value?: unknown[] } }).value;
  return { rows: (data ?? value ?? []).length, commands, projections };
}

/** The second of two: for the first, whoever asks is looked up. */
async function again(procedure: string, query: Record<string, unknown>): Promise<Taken> {
  await ask(procedure, query);
  return ask(procedure, query);
}

/** What `$expand` can bring, by list. */
function relationsOf(): Map<string, string[]> {
  const lists = operationsOf(app.tandem.router).map(({ name, schema }) => [name, schema && resourceOfInput(schema)] as const);
  return new Map(lists.map(([name, resource]) => [name, [...(resource?.relations.keys() ?? [])]]));
}

it(
  'a page of 50 rows takes no more commands of the store than one of a single row, in every list',
  { timeout: 60_000 },
  async () => {
    const relations = relationsOf();
    for (const procedure of (await documentedLists(app)).keys()) {
      const names = relations.get(procedure) ?? [];
      const expanded = names.length > 0 ? [{ $expand: names.join(',') }] : [];
      for (const [size, query] of [['limit', {}], ['$top', {}], ...expanded.map((one) => ['limit', one] as const)] as const) {
        const one = await again(procedure, { [size]: 1, ...query });
        const many = await again(procedure, { [size]: ROWS, ...query });
        const said = `${procedure} ${JSON.stringify(query)}: ${many.commands.join(', ')}`;
        expect([one.rows, many.rows], said).toEqual([1, ROWS]);
        expect(one.commands.length, said).toBeGreaterThan(0);
        expect(many.commands.length, said).toBeLessThanOrEqual(one.commands.length);
      }
    }
  },
);

it.each([
  ['products.list', 'name', { products: ['name', 'createdAt'] }],
  ['products.list', 'id,images', { products: ['images', 'createdAt'], files: undefined }],
  ['orders.list', 'status', { orders: ['status', 'createdAt'] }],
  ['categories.list', 'name', { categories: ['name', 'createdAt'] }],
])('%s with $select=%s reads no more than it shows and sorts by', async (procedure, $select, read) => {
  const taken = await again(procedure, { $select, limit: ROWS });
  expect(taken.rows).toBe(ROWS);
  const wanted = Object.entries(read).map(([name, fields]) => [
    name,
    fields && Object.fromEntries(['_id', ...fields].map((field) => [field, 1])),
  ]);
  expect(Object.fromEntries(taken.projections)).toEqual(Object.fromEntries(wanted));
});

it('a read of one record with $select reads no more than it shows', async () => {
  const { productId } = world;
  projections = new Map();
  const answer = await app.call('rest', 'products.get', { productId, $select: 'name' });
  expect(answer).toEqual({ ok: true, value: { id: productId, name: 'No. 0' } });
  expect(Object.fromEntries(projections)).toEqual({ products: { _id: 1, name: 1, 'trace.version': 1 } });
  await app.call('rest', 'products.get', { productId, $select: 'name', $expand: 'categories' });
  expect(projections.get('products')).toEqual({ _id: 1, name: 1, categoryIds: 1, 'trace.version': 1 });
});
