import { randomUUID } from 'node:crypto';
import type { Storage } from '@tandem/storage';
import { MongoClient, type Db } from 'mongodb';
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
}
let current: Promise<FileDatabase> | undefined;
/** The collections of a server that no test has extended, with their indexes. */
let standard: ReadonlyMap<string, string> | undefined;

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
    return { name: free?._id ?? `t_${randomUUID()}`, client };
  })();
  return uriOf((await current).name);
}

/** To be told of a server that has started without anything of a test's own: its collections are those that stay. */
export async function noteStandard(storage: Storage): Promise<void> {
  if (standard || !current) return;
  const report = await storage.indexReport();
  // another server of the file may have extended it
  if (report.some(({ extra }) => extra.length > 0)) return;
  const { name, client } = await current;
  const collections = report.map(({ collection }) => collection);
  standard = await indexesOf(client.db(name), collections);
}

async function namesOf(database: Db): Promise<string[]> {
  return (await database.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
}

/** What a pipeline finds in each of some collections, by one command. */
async function inEach<Found extends object>(database: Db, names: readonly string[], pipeline: object[]) {
  const unions = names.map((coll) => ({ $unionWith: { coll, pipeline: [...pipeline, { $set: { of: coll } }] } }));
  return database.aggregate<Found & { of: string }>([{ $documents: [] }, ...unions]).toArray();
}

/** The indexes of collections, as text. */
async function indexesOf(database: Db, names: readonly string[]): Promise<Map<string, string>> {
  const all = { $group: { _id: null, specs: { $push: '$spec' } } };
  const found = await inEach<{ specs: { name: string }[] }>(database, names, [{ $indexStats: {} }, all]);
  const text = (specs: { name: string }[]) => JSON.stringify(specs.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
  return new Map(found.map(({ of, specs }) => [of, text(specs)]));
}

/** Empties a database whose collections and indexes are as every server makes them. @returns false for others */
async function emptyIntact(database: Db): Promise<boolean> {
  if (!standard) return false;
  const names = await namesOf(database);
  const indexes = await indexesOf(database, [...standard.keys()]);
  if ([...standard].some(([collection, text]) => indexes.get(collection) !== text)) return false;
  const filled = await inEach<{ count: number }>(database, names, [
    { $collStats: { count: {} } },
    { $match: { count: { $gt: 0 } } },
  ]);
  if (filled.some(({ count }) => count > MOST_ROWS)) return false;
  const own = names.filter((one) => !standard?.has(one));
  const rest = filled.filter(({ of }) => !own.includes(of));
  await Promise.all([
    ...own.map((one) => database.dropCollection(one)),
    ...rest.map(({ of }) => database.collection(of).deleteMany({})),
  ]);
  return true;
}

/** Ends this test file's use of its database. */
export async function releaseDatabase(): Promise<void> {
  if (!current) return;
  const { name, client } = await current;
  current = undefined;
  const database = client.db(name);
  if (await emptyIntact(database)) {
    await freeDatabases(client).insertOne({ _id: name });
  } else await database.dropDatabase();
  await client.close();
}

/**
 * Stores copies of a record, as a host may that writes to the store itself: each with an id of its own.
 * @param change what the nth copy has that is different
 * @returns their ids
 */
export async function storeCopies(
  { mongodbUri, of: _id, count }: { mongodbUri: string; of: string; count: number },
  collection: string,
  change: (n: number) => Record<string, unknown>,
): Promise<string[]> {
  const client = await MongoClient.connect(mongodbUri);
  try {
    const records = client.db().collection<{ _id: string }>(collection);
    const record = await records.findOne({ _id });
    const copies = Array.from({ length: count }, (_, n) => ({ ...record, ...change(n), _id: randomUUID() as string }));
    await records.insertMany(copies);
    return copies.map((copy) => copy._id);
  } finally {
    await client.close();
  }
}
