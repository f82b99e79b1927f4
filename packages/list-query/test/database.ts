import { MongoClient, type Collection, type Db, type Document } from 'mongodb';
import { afterAll } from 'vitest';

/** Stored test documents: ids are strings. */
export type Stored = Document & { _id: string };

/** A separate database on the engine of the test run, closed when the test file ends. */
export async function openTestDatabase(): Promise<Db> {
  const engine = process.env['TANDEM_TEST_MONGODB_URI'];
  if (!engine) throw new Error('TANDEM_TEST_MONGODB_URI names the database engine of the tests');
  const client = new MongoClient(engine);
  await client.connect();
  const db = client.db(`list_query_${process.pid}_${Date.now().toString(36)}`);
  afterAll(async () => {
    await db.dropDatabase();
    await client.close();
  });
  return db;
}

/** A collection with exactly these documents. */
export async function filled(db: Db, name: string, documents: readonly Stored[]): Promise<Collection<Stored>> {
  const collection = db.collection<Stored>(name);
  await collection.deleteMany({});
  for (let n = 0; n < documents.length; n += 10_000) await collection.insertMany(documents.slice(n, n + 10_000));
  return collection;
}
