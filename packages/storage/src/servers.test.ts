import { isCommand, startStoreProxy, type PlayedServer, type StoreProxy } from '@tandem/testing/store-double';
import { afterEach, describe, expect, it } from 'vitest';
import { testDatabase } from '../test/storage-fixture.js';
import { StoreSetupError, openStorage, type JointWrite, type Storage } from './index.js';

const A = { collectionName: 'serversA' };
const B = { collectionName: 'serversB' };
const open: AsyncDisposable[] = [];

afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

const engine = testDatabase().href;

async function play(as?: PlayedServer): Promise<StoreProxy> {
  const proxy = await startStoreProxy(engine, { ...(as && { as }) });
  open.push(proxy);
  return proxy;
}

async function openOn(uri: string): Promise<Storage> {
  const storage = await openStorage({ uri });
  open.push({ [Symbol.asyncDispose]: () => storage.close() });
  return storage;
}

let n = 0;
/** Whether two writes to two collections use one command. */
async function writesJointly(storage: Storage, proxy: StoreProxy): Promise<boolean> {
  const start = proxy.commands.length;
  const _id = `${process.pid} ${(n += 1)}`;
  const writes: JointWrite[] = [A, B].map((model) => ({ model, insert: { _id } }));
  await storage.writeJointly(writes);
  return proxy.commands.slice(start).some(isCommand('serversA+serversB.bulkWrite'));
}

describe('a server’s reported version', () => {
  it('is refused when older than MongoDB 7.0, with one line', async () => {
    const { uri } = await play('MongoDB 6.0');
    const opening = openOn(uri);
    await expect(opening).rejects.toThrow(StoreSetupError);
    await expect(opening).rejects.toThrow(/^The store has to be MongoDB 7\.0 or later: .* wire version 17, not 21$/);
  });

  it.each([
    ['MongoDB 7.0', false],
    ['MongoDB 8.0 at compatibility 7.0', true],
    ['MongoDB 8.0', true],
  ] as const)('%s is sent one command for several collections: %s', async (name, isAsked) => {
    const proxy = await play(name);
    expect(await writesJointly(await openOn(proxy.uri), proxy)).toBe(isAsked);
  });

  it('is read again after a reconnect', async () => {
    const proxy = await play('MongoDB 8.0');
    const storage = await openOn(proxy.uri);
    expect(await writesJointly(storage, proxy)).toBe(true);
    proxy.play('MongoDB 7.0');
    // the driver takes note of what a server says on a connection of its own
    await expect.poll(() => writesJointly(storage, proxy)).toBe(false);
  });

  it('counts as the lowest of several', async () => {
    const [primary, secondary] = [await play('MongoDB 8.0'), await play('MongoDB 7.0')];
    void secondary.stepDown();
    primary.join([secondary]);
    secondary.join([primary]);
    const heard = Promise.all([primary, secondary].map((proxy) => proxy.seen(({ command }) => command === 'hello', 2)));
    const storage = await openOn(primary.uri.replace(primary.address, `${primary.address},${secondary.address}`));
    await heard;
    expect(await writesJointly(storage, primary)).toBe(false);
  });
});

describe('an address', () => {
  it.each([
    ['maxPoolSize=10', 'must not have maxPoolSize: the size of the pool is set by MONGODB_POOL_SIZE'],
    ['readPreference=secondaryPreferred', 'must not have readPreference=secondaryPreferred: only the primary is sure'],
    ['w=0', 'must not have w=0: it is weaker than majority'],
    ['w=2', 'must not have w=2: '],
    ['journal=false', 'must not have journal=false: '],
    ['j=false', 'must not have j=false: '],
    ['readConcernLevel=local', 'must not have readConcernLevel=local: '],
    ['READCONCERNLEVEL=available', 'must not have readConcernLevel=available: '],
    ['readConcernLevel=linearizable', 'must not have readConcernLevel=linearizable: MongoDB refuses it'],
  ])('with %s is refused with one line, without its password', async (option, problem) => {
    const opening = openOn(`mongodb://somebody:hidden@127.0.0.1:9/x?${option}`);
    await expect(opening).rejects.toThrow(StoreSetupError);
    const { message } = (await opening.catch((error: unknown) => error)) as Error;
    expect(message).toContain(`The address of the store ${problem}`);
    expect(message).not.toMatch(/hidden|\n/);
  });

  it('with several such options is refused with a line for each', async () => {
    const failure: unknown = await openOn('mongodb://127.0.0.1:9/x?w=0&journal=false').catch((error: unknown) => error);
    expect((failure as Error).message).toMatch(
      /^The address of the store .* w=0.*\nThe address of the store .* journal=false.*$/,
    );
  });

  it('may ask for equally safe settings', async () => {
    const { uri } = await play('MongoDB 7.0');
    const safe = `${uri}&readPreference=primary&w=majority&journal=true&readConcernLevel=majority&maxIdleTimeMS=1000`;
    await expect(openOn(safe)).resolves.toBeDefined();
  });

  it('may have w=1 where one server is the majority, not in a replica set', async () => {
    const [alone, member] = [await play(), await play('MongoDB 8.0')];
    await openOn(`${alone.uri}&w=1`);
    await expect(openOn(`${member.uri}&w=1`)).rejects.toThrow('in a replica set it is weaker than majority');
  });
});

describe('the pool', () => {
  it.each([
    ['is of 50 connections', undefined, 50],
    ['is of as many as are asked for', 5, 5],
  ])('%s', async (_, poolSize, size) => {
    const proxy = await play('MongoDB 7.0');
    const storage = await openStorage({ uri: proxy.uri, ...(poolSize !== undefined && { poolSize }) });
    open.push({ [Symbol.asyncDispose]: () => storage.close() });
    const held = Array.from({ length: size + 1 }, () => proxy.hold(({ command }) => command === 'ping'));
    const pings = held.map(() => storage.ping());
    await Promise.all(held.slice(0, size).map(({ reached }) => reached));
    expect(storage.connections()).toMatchObject({ inUse: size, waiting: 1 });
    for (const { release } of held) release();
    await Promise.all(pings);
  });
});
