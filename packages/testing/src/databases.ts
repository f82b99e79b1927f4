import { randomUUID } from 'node:crypto';
import type { Storage } from '@tandem/storage';
import { MongoClient } from 'mongodb';
import { ENGINE_VARIABLE } from './shared-engine.js';

/**
 * The databases of a run. Making forty collections with their indexes takes longer than most files' tests, so that a
 * file takes the emptied database of another where there is one, and hands it on at its end.
 */
const POOL = 'test_databases';
/** Dropping is quicker than deleting more rows than that. */
const MOST_ROWS = 5000;

interface FileDatabase {
  name: string;
  client: MongoClient;
  /** Collections and indexes are as every server makes them. */
  isIntact: boolean;
}
let current: Promise<FileDatabase> | undefined;
/** The collections of a server that no test has extended. */
let standard: ReadonlySet<string> | undefined;

const uriOf = (database: string): string =>
  (process.env[ENGINE_VARIABLE] ?? '').replace(/^(mongodb:\/\/[^/]+)\/[^?]*/, `$1/${database}`);

/** The address of a database that a test fills by itself. @param name one a test file */
export const databaseOf = (name: string): string => uriOf(`${name}_${process.pid}`);

const freeDatabases = (client: MongoClient) => client.db(POOL).collection<{ _id: string }>('free');

/** The address of this test file's database: the same for all its servers, so that two are instances of one system. */
export async function databaseOfFile(): Promise<string> {
  current ??= (async () => {
    const client = await MongoClient.connect(uriOf(POOL));
    const free = await freeDatabases(client).findOneAndDelete({});
    return { name: free?._id ?? `t_${randomUUID()}`, client, isIntact: false };
  })();
  const database = await current;
  database.isIntact = false;
  return uriOf(database.name);
}

/** To be told of a server that has started without anything of a test's own: its collections are those that stay. */
export async function noteStandard(storage: Storage): Promise<void> {
  standard ??= new Set((await storage.indexReport()).map(({ collection }) => collection));
}

/** To be told of the last server of this file's database before it closes: only what is as it should be is handed on. */
export async function noteState(storage: Storage): Promise<void> {
  if (!current) return;
  const database = await current;
  // a test may have closed the connection itself
  const report = await storage.indexReport().catch(() => undefined);
  database.isIntact =
    report?.every(({ declared, extra }) => extra.length === 0 && declared.every(({ exists }) => exists)) ?? false;
}

/** Ends this test file's use of its database. */
export async function releaseDatabase(): Promise<void> {
  if (!current) return;
  const { name, client, isIntact } = await current;
  current = undefined;
  const database = client.db(name);
  const collections = await database.collections();
  const sizes = await Promise.all(collections.map((one) => one.estimatedDocumentCount()));
  if (isIntact && standard && sizes.every((rows) => rows <= MOST_ROWS)) {
    await Promise.all(
      collections.map(async (one, at) => {
        if (!standard?.has(one.collectionName)) await one.drop();
        else if (sizes[at] !== 0) await one.deleteMany({});
      }),
    );
    await freeDatabases(client).insertOne({ _id: name });
  } else await database.dropDatabase();
  await client.close();
}

/**
 * Stores copies of a record, as a host may that writes to the store itself: each with an id of its own.
 * @param change what the nth copy has that is different
 */
export async function storeCopies(
  { mongodbUri, of: _id, count }: { mongodbUri: string; of: string; count: number },
  collection: string,
  change: (n: number) => Record<string, unknown>,
): Promise<void> {
  const client = await MongoClient.connect(mongodbUri);
  try {
    const records = client.db().collection<{ _id: string }>(collection);
    const record = await records.findOne({ _id });
    await records.insertMany(Array.from({ length: count }, (_, n) => ({ ...record, ...change(n), _id: randomUUID() })));
  } finally {
    await client.close();
  }
}
