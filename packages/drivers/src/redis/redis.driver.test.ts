import { connect, createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { HAS_REDIS, PATIENCE, startRedis } from '@tandem/testing';
import { expect, it, onTestFinished } from 'vitest';
import { openRedis, type RedisEvents } from '../redis.js';

const portOf = ({ url }: { url: string }) => Number(new URL(url).port);

async function open(url: string, events?: RedisEvents) {
  const driver = openRedis(url, events);
  onTestFinished(() => driver.close());
  await driver.verify();
  return driver;
}

/** An address that leads to one server, and from then on to another. */
async function openAddress(first: number) {
  let port = first;
  const server = createServer((socket) => {
    const target = connect(port, '127.0.0.1');
    socket.pipe(target).pipe(socket);
    for (const end of [socket, target]) end.on('error', () => end.destroy());
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (next: number) => void (port = next),
  };
}

it.skipIf(!HAS_REDIS)('a primary that has become a replica is left for the one that its address leads to', async () => {
  await using former = await startRedis();
  await using next = await startRedis();
  const address = await openAddress(portOf(former));
  const reasons: string[] = [];
  const { client } = await open(address.url, { onAway: ({ message }) => void reasons.push(message) });
  await client.set('key', 'at first');

  address.leadTo(portOf(next));
  await (await open(former.url)).client.replicaof('127.0.0.1', portOf(next));
  await expect(client.eval("return redis.call('set', KEYS[1], 'then')", 1, 'key')).rejects.toThrow('READONLY');
  await expect.poll(() => client.set('key', 'now').catch(() => undefined), PATIENCE).toBe('OK');
  expect(await (await open(next.url)).client.get('key')).toBe('now');
  expect(reasons).toEqual([expect.stringContaining('READONLY')]);
});

it.skipIf(!HAS_REDIS)('a replica that the address still leads to is not left again for each write', async () => {
  await using primary = await startRedis();
  await using replica = await startRedis();
  let departures = 0;
  const { client } = await open(replica.url, { onAway: () => (departures += 1) });
  await client.replicaof('127.0.0.1', portOf(primary));
  await expect(client.set('key', 'refused')).rejects.toThrow('READONLY');
  await expect.poll(() => departures, PATIENCE).toBe(1);
  await expect.poll(() => client.status, PATIENCE).toBe('ready');
  for (let n = 0; n < 3; n++) await expect(client.set('key', 'refused')).rejects.toThrow('READONLY');
  expect([client.status, departures]).toEqual(['ready', 1]);
});
