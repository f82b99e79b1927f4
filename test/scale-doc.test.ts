import { readFileSync } from 'node:fs';
import { fixture, startTestServer } from '@tandem/testing';
import mongoose from 'mongoose';
import { afterAll, beforeAll, expect, it } from 'vitest';

const text = readFileSync(new URL('../docs/scale.md', import.meta.url), 'utf8');
const app = fixture(startTestServer);
let connection: mongoose.Connection;
beforeAll(async () => (connection = await mongoose.createConnection(app.mongodbUri).asPromise()));
afterAll(() => connection.close());

/** The collections of the table of keys, each with its key. */
const shards = [...text.matchAll(/^\| `(\w+)` +\| `(\w+)`/gm)].map(([, collection = '', key = '']) => ({ collection, key }));

/** The first fields of the unique indexes of a collection. */
async function uniqueFields(collection: string): Promise<string[]> {
  const indexes = await connection.collection(collection).indexes();
  return indexes.filter(({ unique }) => unique).map(({ key }) => Object.keys(key)[0] as string);
}

it('docs/scale.md names no shard key that a unique index of its collection lacks, since MongoDB would refuse it', async () => {
  expect(shards.map(({ collection }) => collection)).toContain('messages');
  for (const { collection, key } of shards) {
    const others = (await uniqueFields(collection)).filter((field) => field !== key);
    expect([collection, others]).toEqual([collection, []]);
  }
});

it('docs/scale.md says of each collection whether it is sharded', async () => {
  const named = new Set([...text.matchAll(/`(\w+)`/g)].map(([, name]) => name));
  const collections = (await app.storage.indexReport()).map(({ collection }) => collection);
  expect(collections.filter((collection) => !named.has(collection))).toEqual([]);
});
