import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { PASSWORD, isCutOff, startServerProcess, type RestAnswer, type ServerProcess } from '@tandem/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { DomainEvent } from './events.schemas.js';

/** Kills of the server and the engine in turn, and the acknowledged writes before each. */
const KILLS = 20;
const BETWEEN = 40;
const WRITERS = 4;
/** Variants made by one request, which is one unit of work. */
const BATCH = 3;
/** Longer than the lease of a process that died while it appended. */
const PATIENCE = 30_000;
const ADMIN = { email: 'admin@example.org', password: PASSWORD };

let dataDir: string;
let server: ServerProcess;
let accessToken: string;
const start = () =>
  startServerProcess({ DATA_DIR: dataDir, BOOTSTRAP_ADMIN_EMAIL: ADMIN.email, BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password });
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'tandem-events-'));
  server = await start();
  ({ accessToken } = await server.rest('POST', '/auth/login', ADMIN).expect<{ accessToken: string }>(200));
});
afterAll(async () => {
  await server?.kill('SIGTERM');
  await rm(dataDir, { recursive: true, maxRetries: 20, retryDelay: 50 });
});

/** What was written: acknowledged, or sent without an answer. */
interface Written {
  name: string;
  isAcknowledged: boolean;
}

/** Sends a write. @returns its answer; undefined when nobody knows whether it took place */
async function attempt<Body>(method: string, to: string, body: object): Promise<Body | undefined> {
  let answer: RestAnswer | undefined;
  try {
    answer = await server.rest(method, to, body, { accessToken });
  } catch (error) {
    // the connection ended with the process; any other error is an undocumented answer
    if (!isCutOff(error)) throw error;
    await pause(50);
  }
  if (!answer || answer.status >= 500) return undefined;
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body as Body;
}

/** Writers that work until they are stopped, and what each has written, by subject where one wrote it in order. */
async function startWriters() {
  const goods = { name: 'Tea', description: '' };
  const product = await server.rest('POST', '/products', goods, { accessToken }).expect<{ id: string }>(201);
  const categories = new Map<string, Written[]>();
  const batches: { names: string[]; isAcknowledged: boolean }[] = [];
  let acknowledged = 0;
  const over = new AbortController();

  async function writeCategory(): Promise<void> {
    const name = crypto.randomUUID();
    const made = await attempt<{ id: string }>('POST', '/categories', { name, description: '' });
    if (!made) return;
    acknowledged += 1;
    const history: Written[] = [{ name, isAcknowledged: true }];
    categories.set(made.id, history);
    for (let turn = 0; turn < 5 && !over.signal.aborted; turn++) {
      const next = crypto.randomUUID();
      const isAcknowledged = (await attempt('PATCH', `/categories/${made.id}`, { name: next })) !== undefined;
      history.push({ name: next, isAcknowledged });
      if (isAcknowledged) acknowledged += 1;
    }
  }
  async function writeVariants(): Promise<void> {
    const names = Array.from({ length: BATCH }, () => crypto.randomUUID());
    const made = await attempt('POST', `/product/${product.id}/variants/bulk`, names.map((title) => ({ title }))); // prettier-ignore
    batches.push({ names, isAcknowledged: made !== undefined });
    if (made) acknowledged += 1;
  }
  async function work(): Promise<void> {
    while (!over.signal.aborted) {
      await writeCategory();
      await writeVariants();
    }
  }
  const working = Promise.all(Array.from({ length: WRITERS }, work));
  working.catch(() => {});
  return {
    categories,
    batches,
    /** Waits for more acknowledged writes. */
    async more(count: number): Promise<void> {
      const goal = acknowledged + count;
      const isReached = () => expect(acknowledged).toBeGreaterThanOrEqual(goal);
      await Promise.race([vi.waitFor(isReached, { timeout: PATIENCE, interval: 10 }), working]);
    },
    async stop(): Promise<void> {
      over.abort();
      await working;
    },
  };
}

/** All events of some types, in the order of the log. */
async function readAll(types: string): Promise<DomainEvent[]> {
  const all: DomainEvent[] = [];
  for (let since = ''; ;) {
    const query = `types=${types}&limit=200${since && `&since=${since}`}`;
    const page = await server
      .rest('GET', `/events?${query}`, undefined, { accessToken })
      .expect<{ data: DomainEvent[]; nextSince: string | null }>(200);
    all.push(...page.data);
    if (page.data.length === 0) return all;
    since = page.nextSince ?? '';
  }
}

it(
  `server and engine are killed ${KILLS} times under writes: each acknowledged one has its event once, in the order of its record`,
  { timeout: 300_000 },
  async () => {
    const writers = await startWriters();
    for (let kills = 0; kills < KILLS; kills++) {
      await writers.more(BETWEEN);
      if (kills % 2 === 0) {
        await server.kill();
        server = await start();
      } else {
        const engines = server.lines.filter(({ msg }) => msg === 'the embedded database runs').length;
        const { enginePid } = await server.logged('the embedded database runs', engines);
        process.kill(Number(enginePid), 'SIGKILL');
      }
    }
    await writers.more(BETWEEN);
    await writers.stop();

    const known = [...writers.categories.values()].flat().filter(({ isAcknowledged }) => isAcknowledged);
    const told = await vi.waitFor(
      async () => {
        const events = await readAll('category.created,category.updated');
        const names = new Set(events.map(({ data }) => data['name']));
        expect(known.filter(({ name }) => !names.has(name))).toEqual([]);
        return events;
      },
      { timeout: PATIENCE, interval: 500 },
    );
    expect(told.map(({ id }) => id)).toEqual([...new Set(told.map(({ id }) => id))].toSorted());
    for (const [id, history] of writers.categories) {
      const ofOne = told.filter(({ subject }) => subject.id === id);
      const names = ofOne.map(({ data }) => data['name']);
      const expected = history.filter(({ name, isAcknowledged }) => isAcknowledged || names.includes(name));
      expect(names).toEqual(expected.map(({ name }) => name));
      expect(ofOne.map(({ type }) => type)).toEqual(['category.created', ...names.slice(1).map(() => 'category.updated')]);
    }

    const titles = (await readAll('productVariant.created')).map(({ data }) => data['title']);
    expect(titles).toHaveLength(new Set(titles).size);
    for (const { names, isAcknowledged } of writers.batches) {
      const found = names.filter((name) => titles.includes(name)).length;
      expect(isAcknowledged ? [BATCH] : [0, BATCH]).toContain(found);
    }
  },
);
