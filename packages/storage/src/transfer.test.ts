import mongoose from 'mongoose';
import { isCommand, startStoreProxy } from '@tandem/testing/store-double';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import { ImportError, StoreSetupError, defineModel, openStorage, type Storage } from './index.js';

const { Decimal128, Double, Int32, Long, ObjectId, UUID } = mongoose.mongo.BSON;
const DOCUMENTS = [
  { _id: 'a', int: new Int32(5), double: new Double(5), long: Long.fromString('9007199254740993'), nothing: null },
  {
    _id: 'b',
    price: Decimal128.fromString('19.90'),
    at: new Date(0),
    deletedAt: new Date(1),
    text: 'line\nbreak \u2028 "quote"',
  },
  {
    _id: new ObjectId(),
    uuid: new UUID(),
    bytes: new mongoose.mongo.Binary(Buffer.from([0, 255])),
    list: [{ $a: 1, 'b.c': [] }],
  },
];
const MANY = 1200;
/** Ids in the order of their numbers. */
const id = (n: number) => `${1e6 + n}`;

let storage: Storage;
let other: Storage;
let client: mongoose.mongo.MongoClient;
let [name, otherName, otherUri] = ['', '', ''];
beforeAll(async () => {
  const one = await openTestStorage();
  const two = await openTestStorage();
  ({ storage } = one);
  other = two.storage;
  otherUri = two.uri;
  client = await mongoose.mongo.MongoClient.connect(one.uri);
  [name, otherName] = [one.uri, two.uri].map((uri) => new URL(uri).pathname.slice(1)) as [string, string];
  await client
    .db(name)
    .collection('hosts.own')
    .insertMany(DOCUMENTS as never[]);
  await client
    .db(name)
    .collection('many')
    .insertMany(Array.from({ length: MANY }, (_, n) => ({ _id: n as never, n })));
});
afterAll(async () => {
  await client.close();
  await other.close();
  await storage.close();
});

async function exported(from = storage): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of from.exportLines(() => {})) lines.push(line);
  return lines;
}
async function* each(lines: readonly string[]): AsyncGenerator<string> {
  for (const line of lines) yield await Promise.resolve(line);
}
const load = (lines: readonly string[]) => other.importLines(each(lines), () => {});

describe('an export', () => {
  it('is refused as a whole when a part is missing, changed or doubled, and leaves nothing behind', async () => {
    const lines = await exported();
    const spoilt: [string[], RegExp][] = [
      [[], /breaks off after line 0/],
      [lines.slice(0, -1), /breaks off after line/],
      [lines.slice(1), /Line 1 does not begin an export/],
      [lines.toSpliced(700, 1), /has 1203 documents, of which 1202 came/],
      [[...lines, '{}'], /ended before it/],
      [lines.with(600, '{"collection":'), /Line 601 is not a line of an export/],
      [lines.with(600, '{"collection":"system.users","document":{}}'), /Line 601 is not a line of an export/],
      [lines.with(600, lines[500] as string), /duplicate key/],
    ];
    for (const [broken, why] of spoilt) {
      await expect(load(broken)).rejects.toThrow(why);
      expect(await exported(other)).toHaveLength(2);
    }
  });

  it('is imported by one of two at once, and by none after one was broken off', async () => {
    const lines = await exported();
    const claims = client.db(otherName).collection('tandemImports');
    await claims.insertOne({ _id: 'import' as never });
    await expect(load(lines)).rejects.toThrow(/is under way, or was broken off/);
    await claims.deleteMany({});
    expect(await exported(other)).toHaveLength(2);

    const outcomes = await Promise.allSettled([load(lines), load(lines)]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({ reason: expect.any(ImportError) as unknown });
    expect(await exported(other)).toEqual(lines);
    for (const name of ['hosts.own', 'many']) await client.db(otherName).collection(name).deleteMany({});
  });

  it('is not made of a database into which an import is under way or was broken off', async () => {
    const claims = client.db(otherName).collection('tandemImports');
    await claims.insertOne({ _id: 'import' as never });
    await expect(exported(other)).rejects.toThrow(StoreSetupError);
    await expect(other.expectWhole()).rejects.toThrow(/is under way, or was broken off/);
    await claims.deleteMany({});
    await other.expectWhole();
  });

  it('that could not be removed after a failed import keeps others out, and says why it had failed', async () => {
    const lines = await exported();
    await using proxy = await startStoreProxy(otherUri);
    const reached = await openStorage({ uri: proxy.uri });
    onTestFinished(() => reached.close());
    void proxy.answer(isCommand('many.delete'), { ok: 0, code: 50, codeName: 'MaxTimeMSExpired', errmsg: 'too slow' });
    const loading = reached.importLines(each(lines.slice(0, -1)), () => {});
    await expect(loading).rejects.toThrow(/breaks off after line 1204. What was stored could not be removed: drop the database/);
    await expect(load(lines)).rejects.toThrow(/is under way, or was broken off/);
    for (const one of ['hosts.own', 'many', 'tandemImports']) await client.db(otherName).collection(one).deleteMany({});
  });

  it('brings every document of every collection into another database, with its types', async () => {
    const lines = await exported();
    expect(lines).toHaveLength(1 + DOCUMENTS.length + MANY + 1);
    const seen: number[] = [];
    expect(await other.importLines(each(lines), ({ documents }) => seen.push(documents))).toBe(DOCUMENTS.length + MANY);
    expect(seen).toEqual([3, 503, 1003, 1203]);
    expect(await exported(other)).toEqual(lines);
    const [first] = await client.db(otherName).collection('hosts.own').find({}, { promoteValues: false }).toArray();
    expect(first).toStrictEqual(DOCUMENTS[0]);
  });

  it('contains the `imports` of a host: the mark of an import has a name that no model may have', async () => {
    const own = await openTestStorage();
    onTestFinished(() => own.storage.close());
    const settings = { fields: { of: String }, indexes: [] };
    await own.storage.model(defineModel('imports', settings)).create({ _id: 'tea', of: 'Assam' } as object);
    expect(await exported(own.storage)).toEqual([expect.anything(), expect.stringContaining('Assam'), expect.anything()]);
    const loading = own.storage.importLines(each(await exported()), () => {});
    await expect(loading).rejects.toThrow(/has documents already \(in imports\)/);
    expect(() => own.storage.model(defineModel('tandemImports', settings))).toThrow(/is that of imports under way/);
  });

  it('made while a unique value passes on is imported with its newer holder, and without the older ones', async () => {
    const [from, to] = [(await openTestStorage()).storage, (await openTestStorage()).storage];
    onTestFinished(async () => void (await Promise.all([from.close(), to.close()])));
    const seats = defineModel('seats', {
      fields: { row: Number, person: String },
      indexes: [
        { keys: { row: 1 }, unique: true, serves: 'a seat by its row' },
        { keys: { person: 1 }, unique: true, serves: 'the seat of a person' },
      ],
    });
    const seatsOf = (one: Storage) => one.model(seats).collection as unknown as mongoose.mongo.Collection<{ _id: string }>;
    const [before, after] = [seatsOf(from), seatsOf(to)];
    await Promise.all([from.ensureIndexes(), to.ensureIndexes()]);
    const seat = (row: number) => ({ _id: id(row), row, person: `p${row}`, deletedAt: null });
    const deleted = { ...seat(0), _id: id(-1), deletedAt: new Date(0) };
    await before.insertMany([deleted, ...Array.from({ length: MANY }, (_, row) => seat(row))]);
    const lines: string[] = [];
    for await (const line of from.exportLines(() => {})) {
      lines.push(line);
      if (!line.includes(id(1))) continue;
      // the export has read both, and will read what comes last
      await before.deleteMany({ _id: { $in: [id(0), id(1)] } });
      await before.insertMany([{ ...seat(MANY), row: 0, person: 'p1' }, seat(MANY + 1)]);
    }
    const told: object[] = [];
    expect(await to.importLines(each(lines), (progress) => told.push(progress))).toBe(MANY + 1);
    expect(told.at(-1)).toEqual({ collection: 'seats', documents: MANY + 1, leftOut: 2 });
    expect(await after.find().sort({ _id: 1 }).toArray()).toEqual(await before.find().sort({ _id: 1 }).toArray());
  });

  it('is refused where there are documents', async () => {
    await expect(load(await exported())).rejects.toThrow(ImportError);
    expect(await exported(other)).toEqual(await exported());
  });
});
