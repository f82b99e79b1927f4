import type { Collection, Db } from 'mongodb';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { filled, openTestDatabase, type Stored } from '../test/database.js';
import { productDocuments, products } from '../test/products.js';
import { ListTimeLimitError, createGate, runListQuery, type Caller, type Gate, type ListCollection } from './index.js';

const [ann, bob, cid]: Caller[] = ['ann', 'bob', 'cid'].map((key) => ({ key, isAnonymous: false })) as [Caller, Caller, Caller];
const [north, south] = ['north', 'south'].map((key) => ({ key, isAnonymous: true })) as [Caller, Caller];

/** Commands at a gate that end on demand. */
function commandsAt(gate: Gate) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    /** Starts a command under this name. */
    ask(caller: Caller, name: string, signal?: AbortSignal): Promise<string> {
      const command = async () => {
        begun.push(name);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        return name;
      };
      const asked = gate(caller, command, signal);
      // some tests end while commands wait, which then wait in vain
      asked.catch(() => {});
      return asked;
    },
    /** Ends one, and waits until every command that may then begin has begun. */
    async end(name: string): Promise<void> {
      ends.get(name)?.();
      await settled();
    },
  };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));
afterEach(() => void vi.useRealTimers());

describe('a gate', () => {
  it('runs one command per caller, and the callers in turn, however much each asks', async () => {
    const { begun, ask, end } = commandsAt(createGate({ atOnce: 2 }));
    for (const name of ['a1', 'a2', 'a3', 'a4']) void ask(ann, name);
    for (const name of ['b1', 'b2']) void ask(bob, name);
    void ask(cid, 'c1');
    await settled();
    expect(begun).toEqual(['a1', 'b1']);
    await end('a1');
    expect(begun.slice(2)).toEqual(['c1']);
    await end('b1');
    expect(begun.slice(3)).toEqual(['a2']);
    await end('a2');
    expect(begun.slice(4)).toEqual(['b2']);
    await end('b2');
    await end('c1');
    expect(begun.slice(5)).toEqual(['a3']);
    await end('a3');
    expect(begun.slice(6)).toEqual(['a4']);
  });

  it('makes a caller pause after a long turn, for half a second at most, while others go on', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { begun, ask, end } = commandsAt(createGate({ atOnce: 1, rest: 2, restFreeMs: 10 }));
    const pass = async (milliseconds: number) => {
      vi.advanceTimersByTime(milliseconds);
      await settled();
    };
    for (const name of ['a0', 'a1', 'a2', 'a3']) void ask(ann, name);
    await settled();
    await pass(10);
    await end('a0');
    begun.shift();
    expect(begun).toEqual(['a1']);
    await pass(110);
    void ask(bob, 'b1');
    await end('a1');
    await pass(199);
    expect(begun).toEqual(['a1', 'b1']);
    await end('b1');
    expect(begun).toEqual(['a1', 'b1']);
    await pass(1);
    expect(begun.slice(2)).toEqual(['a2']);
    await pass(2000);
    await end('a2');
    await pass(499);
    expect(begun.slice(3)).toEqual([]);
    await pass(1);
    expect(begun.slice(3)).toEqual(['a3']);
  });

  it('makes a caller pause longer for what its command returned', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const gate = createGate({ atOnce: 1, restAfter: (outcome) => outcome as number });
    await gate(ann, () => Promise.resolve(3000));
    const begun: string[] = [];
    const next = gate(ann, () => (begun.push('next'), Promise.reject(new Error('no outcome'))));
    next.catch(() => {});
    vi.advanceTimersByTime(2999);
    await settled();
    expect(begun).toEqual([]);
    vi.advanceTimersByTime(1);
    await expect(next).rejects.toThrow('no outcome');
    await gate(ann, () => Promise.resolve(0));
  });

  it('limits anonymous callers together to their part, and leaves the rest to the others', async () => {
    const { begun, ask, end } = commandsAt(createGate({ atOnce: 2, anonymousAtOnce: 1 }));
    void ask(north, 'n1');
    void ask(south, 's1');
    void ask(north, 'n2');
    await settled();
    expect(begun).toEqual(['n1']);
    void ask(ann, 'a1');
    await settled();
    expect(begun.slice(1)).toEqual(['a1']);
    await end('n1');
    expect(begun.slice(2)).toEqual(['s1']);
    await end('s1');
    expect(begun.slice(3)).toEqual(['n2']);
  });

  it('serves anonymous and known callers in order of arrival', async () => {
    const { begun, ask, end } = commandsAt(createGate({ atOnce: 1 }));
    const callers = { a: ann, n: north, b: bob, s: south, c: cid };
    for (const [name, caller] of Object.entries(callers)) void ask(caller, name);
    for (const name of Object.keys(callers)) {
      await settled();
      await end(name);
    }
    expect(begun).toEqual(Object.keys(callers));
  });

  it("keeps a caller's place in the order when it asks for more", async () => {
    const { begun, ask, end } = commandsAt(createGate({ atOnce: 1 }));
    void ask(cid, 'c1');
    void ask(ann, 'a1');
    void ask(north, 'n1');
    void ask(ann, 'a2');
    await settled();
    await end('c1');
    expect(begun).toEqual(['c1', 'a1']);
  });

  it('runs no second command of a caller when another of it was dropped', async () => {
    const { begun, ask, end } = commandsAt(createGate({ atOnce: 2 }));
    const leaving = new AbortController();
    void ask(ann, 'a1');
    const waiting = ask(ann, 'a2', leaving.signal);
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    void ask(ann, 'a3');
    await settled();
    expect(begun).toEqual(['a1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'a3']);
  });

  it('forgets callers without commands', async () => {
    const gate = createGate({ atOnce: 3, anonymousAtOnce: 1 });
    const { begun, ask, end } = commandsAt(gate);
    await gate(north, () => Promise.resolve());
    void ask({ key: 'east', isAnonymous: true }, 'e1');
    const leaving = new AbortController();
    const waiting = ask(south, 's1', leaving.signal);
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    // they have signed in: the anonymous limit does not apply
    for (const { key } of [north, south]) void ask({ key, isAnonymous: false }, key);
    await settled();
    expect(begun).toEqual(['e1', 'north', 'south']);
    for (const name of begun) await end(name);
  });

  it('admits the next command after one that fails', async () => {
    const gate = createGate({ atOnce: 1 });
    const failing = gate(ann, () => Promise.reject(new Error('failed')));
    const next = gate(ann, () => Promise.resolve('next'));
    await expect(failing).rejects.toThrow('failed');
    expect(await next).toBe('next');
  });

  it('drops what waits too long, and refuses what exceeds the queue', async () => {
    const gate = createGate({ atOnce: 1, waitMs: 20, waitingMax: 1 });
    const { ask, end } = commandsAt(gate);
    const running = ask(ann, 'a1');
    const waiting = ask(bob, 'b1');
    await expect(ask(bob, 'b2')).rejects.toMatchObject({ status: 503 });
    await expect(waiting).rejects.toThrow(ListTimeLimitError);
    await end('a1');
    expect(await running).toBe('a1');
    expect(await gate(bob, () => Promise.resolve('b3'))).toBe('b3');
  });

  it('drops waiting commands of callers that leave, and runs nothing for those that have left', async () => {
    const { begun, ask, end } = commandsAt(createGate({ atOnce: 1 }));
    const leaving = new AbortController();
    void ask(ann, 'a1');
    const waiting = ask(bob, 'b1', leaving.signal);
    void ask(cid, 'c1');
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    await expect(ask(bob, 'b2', leaving.signal)).rejects.toThrow('left');
    await end('a1');
    expect(begun).toEqual(['a1', 'c1']);
  });
});

describe('a list query', () => {
  let db: Db;
  let collection: Collection<Stored>;
  beforeAll(async () => {
    db = await openTestDatabase();
    collection = await filled(db, 'products', productDocuments(20));
  });

  /** The collection, and the most commands that ran concurrently. */
  function watched(): { collection: ListCollection; most: () => number } {
    let [underWay, most] = [0, 0];
    const watch = (cursor: { toArray(): Promise<object[]> }) => ({
      async toArray() {
        underWay += 1;
        most = Math.max(most, underWay);
        return cursor.toArray().finally(() => (underWay -= 1));
      },
    });
    return {
      most: () => most,
      collection: {
        collectionName: collection.collectionName,
        find: (filter, options) => watch(collection.find(filter, options)),
        aggregate: (pipeline, options) => watch(collection.aggregate(pipeline, options)),
      },
    };
  }

  it('waits at the gate unless it is one page by an index', async () => {
    const closed = createGate({ atOnce: 0, waitMs: 10 });
    const options = { collection, gate: closed };
    expect((await runListQuery(products, [['$top', '1']], options)).count).toBe(1);
    const costly = runListQuery(products, [['$filter', 'price gt 1']], { ...options, isOnePage: false });
    await expect(costly).rejects.toMatchObject({ status: 503 });
    await expect(runListQuery(products, [['$apply', 'top(1)']], options)).rejects.toMatchObject({ status: 503 });
  });

  it('waits at the gate where it passes over more than 1,000 rows, also by a token that counts them', async () => {
    // the last row of each page has a name that is too long for a token
    const nameOf = (n: number) => `${String(n).padStart(4, '0')}${'x'.repeat(n % 100 === 99 ? 9000 : 0)}`;
    const rows = Array.from({ length: 1200 }, (_, n) => ({ _id: `r${n}`, name: nameOf(n) }));
    const long = await filled(db, 'long', rows);
    const options = { collection: long, gate: createGate({ atOnce: 0, waitMs: 10 }), cursorSecret: 'secret', isOnePage: true };
    const page = (given: Record<string, string>) => runListQuery(products, Object.entries({ $orderby: 'name', $top: '100', ...given }), options); // prettier-ignore
    await expect(page({ $skip: '1001' })).rejects.toMatchObject({ status: 503 });
    let { nextToken } = await page({});
    for (let skip = 100; skip <= 1000; skip += 100) ({ nextToken } = await page({ $nextToken: nextToken as string }));
    await expect(page({ $nextToken: nextToken as string })).rejects.toMatchObject({ status: 503 });
  });

  it('runs one command at a time for a page of transformed records and their total', async () => {
    const { collection: counted, most } = watched();
    const gate = createGate({ atOnce: 5 });
    const queries = [1, 2, 3].map(
      () =>
      runListQuery(products, [['$apply', 'orderby(name) then top(15)'], ['$top', '2']], { collection: counted, gate, caller: ann }), // prettier-ignore
    );
    expect((await Promise.all(queries)).map(({ total, count }) => [total, count])).toEqual([[15, 2], [15, 2], [15, 2]]); // prettier-ignore
    expect(most()).toBe(1);
  });
});
