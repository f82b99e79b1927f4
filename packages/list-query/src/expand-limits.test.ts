import { beforeAll, describe, expect, it } from 'vitest';
import { filled } from '../test/database.js';
import { noted, openTasks, type TaskLists } from '../test/tasks.js';
import { createGate, type Gate, type ListCollection } from './index.js';

let { db, options, expand } = {} as TaskLists;
beforeAll(async () => {
  ({ db, options, expand } = await openTasks());
});

describe('related records are limited per answer', () => {
  /** A row that names these watchers. */
  async function watchedBy(...watcherIds: string[]): Promise<ListCollection> {
    return filled(db, 'watched', [{ _id: '1', ownerId: 'ann', teamCode: 'ONE', meta: { watcherIds } }]);
  }
  const times = (count: number, id: string) => Array.from({ length: count }, () => id);
  const TOO_MUCH = { status: 400, message: "query parameter '$expand' gives too much" };

  it('counting each as often as it appears, and missing ones not at all', async () => {
    const most = await watchedBy(...times(2000, 'ann'), ...times(3000, 'eve'), 'gone');
    const [row] = await expand('watchers', { collection: most });
    expect((row as { watchers: unknown[] }).watchers.filter((one) => one !== null)).toHaveLength(2000);
    await expect(expand('watchers, owner', { collection: most })).rejects.toMatchObject(TOO_MUCH);
  });

  it('by their ids alone, without reading what is refused', async () => {
    const read: unknown[] = [];
    const people = await filled(db, 'few_people', [{ _id: 'ann', name: 'Ann' }]);
    const collection: ListCollection = {
      collectionName: people.collectionName,
      aggregate: (pipeline) => people.aggregate(pipeline),
      find(filter, settings) {
        const found = people.find(filter, settings).toArray();
        return { toArray: () => found.then((records) => (read.push(...records), records)) };
      },
    };
    const relations = { ...options.relations, watchers: collection };
    const most = await watchedBy(...times(2001, 'ann'));
    await expect(expand('watchers', { collection: most, relations })).rejects.toMatchObject(TOO_MUCH);
    expect(read).toEqual([{ _id: 'ann' }]);
  });

  it('counting nested ones too', async () => {
    const relations = { ...options.relations, 'watchers.team': options.relations?.['team'] as ListCollection };
    const collection = await watchedBy(...times(1000, 'ann'));
    expect(await expand('watchers.team', { collection, relations })).toHaveLength(1);
    await expect(expand('watchers.team', { collection: await watchedBy(...times(1001, 'ann')), relations })).rejects.toMatchObject(TOO_MUCH); // prettier-ignore
  });

  it('and in distinct number, without reading them all', async () => {
    const names = Array.from({ length: 2001 }, (_, n) => `w${n}`);
    const many = noted(await filled(db, 'many_people', names.map((_id) => ({ _id, name: _id })))); // prettier-ignore
    const collection = await watchedBy(...names);
    const relations = { ...options.relations, watchers: many };
    await expect(expand('watchers', { collection, relations })).rejects.toMatchObject(TOO_MUCH);
    expect(await expand('watchers', { collection: await watchedBy(...names.slice(1)), relations })).toHaveLength(1);
  });

  it('and in bytes of JSON, repeats included', async () => {
    const name = 'é'.repeat(4096);
    const large = noted(await filled(db, 'large_people', [{ _id: 'ann', name }]));
    const bytes = Buffer.byteLength(JSON.stringify({ id: 'ann', name }));
    const fitting = Math.floor((4 * 1024 * 1024) / bytes);
    const relations = { ...options.relations, watchers: large };
    const fits = await expand('watchers', { collection: await watchedBy(...times(fitting, 'ann')), relations });
    expect(fits).toHaveLength(1);
    const collection = await watchedBy(...times(fitting + 1, 'ann'));
    await expect(expand('watchers', { collection, relations })).rejects.toMatchObject(TOO_MUCH);
  });

  it('and wait at the gate when they are more than a page', async () => {
    const closed = { gate: createGate({ atOnce: 0, waitMs: 10 }) };
    const ids = Array.from({ length: 101 }, (_, n) => `w${n}`);
    expect(await expand('watchers', { collection: await watchedBy(...ids.slice(1)), ...closed })).toHaveLength(1);
    await expect(expand('watchers', { collection: await watchedBy(...ids), ...closed })).rejects.toMatchObject({ status: 503 });
  });
});

describe('while related records are embedded', () => {
  const ids = Array.from({ length: 101 }, (_, n) => `w${n}`);
  const watched = async () => filled(db, 'watched', [{ _id: '1', meta: { watcherIds: ids } }]);
  const GONE = new Error('the caller has left');
  async function shownSlowly(show: () => void) {
    const slow = (record: object) => {
      show();
      for (const until = performance.now() + 6; performance.now() < until;);
      return record;
    };
    const collection = noted(await filled(db, 'slow_people', ids.slice(0, 5).map((_id) => ({ _id })))); // prettier-ignore
    return { collection: await watched(), relations: { ...options.relations, watchers: { collection, show: slow } } };
  }

  it('other callers get theirs, even while one waits for the store', async () => {
    const leaving = new AbortController();
    let waiting = 0;
    const closed: Gate = (_caller, _command, signal) => {
      waiting += 1;
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(GONE)));
    };
    const collection = await watched();
    const all = Array.from({ length: 20 }, () => expand('watchers', { collection, gate: closed, signal: leaving.signal }));
    const ended = Promise.allSettled(all);
    await expect.poll(() => waiting).toBe(20);
    leaving.abort(GONE);
    expect((await ended).map((one) => (one as PromiseRejectedResult).reason as unknown)).toEqual(all.map(() => GONE));
  });

  it('the process serves other work in between, however many ask', async () => {
    let turn = 0;
    const turns: number[] = [];
    let counting = setImmediate(function count() {
      turn += 1;
      counting = setImmediate(count);
    });
    const slowly = await shownSlowly(() => turns.push(turn));
    await Promise.all([expand('watchers', slowly), expand('watchers', slowly), expand('watchers', slowly)]);
    clearImmediate(counting);
    expect(new Set(turns).size).toBe(15);
  });

  it('their caller starts no others, and pauses as long as they took', async () => {
    const times: number[] = [];
    const slowly = await shownSlowly(() => times.push(performance.now()));
    const caller = { key: 'ann', isAnonymous: false };
    await Promise.all([expand('watchers', { ...slowly, caller }), expand('watchers', { ...slowly, caller })]);
    const [first = 0, last = 0, next = 0] = [times[0], times[4], times[5]];
    // timers have whole milliseconds
    expect(next - last).toBeGreaterThan(last - first - 2);
  });

  it('their caller pauses for the size of a large answer, half a second per megabyte', async () => {
    const large = await filled(db, 'large_people', [{ _id: 'w0', name: 'é'.repeat(250_000) }]);
    const shownAt: number[] = [];
    const show = (record: object) => (shownAt.push(performance.now()), record);
    const relations = { ...options.relations, watchers: { collection: large, show } };
    const one = { collection: await watched(), relations, caller: { key: 'ann', isAnonymous: false } };
    await Promise.all([expand('watchers', one), expand('watchers', one)]);
    const [first = 0, next = 0] = shownAt;
    expect(next - first).toBeGreaterThan((500_000 - 64 * 1024) / 2000 - 2);
  });

  it('the rest is dropped when the caller leaves', async () => {
    const leaving = new AbortController();
    let shown = 0;
    const slowly = await shownSlowly(() => {
      shown += 1;
      leaving.abort(GONE);
    });
    await expect(expand('watchers', { ...slowly, signal: leaving.signal })).rejects.toBe(GONE);
    expect(shown).toBe(1);
  });
});
