import mongoose, { type mongo } from 'mongoose';
import { isDuplicateKey } from './failures.js';
import { SEARCH, withSearch } from './search.js';
import { StoreSetupError } from './store-address.js';

const { EJSON } = mongoose.mongo.BSON;
/** Version of the line format. */
const VERSION = 1;
/** Size of one write of an import: documents, or characters of their lines together. */
const BATCH = { documents: 500, characters: 8 * 1024 * 1024 };
/** Documents that one write removes after a failed import. */
const REMOVED = 5000;
/**
 * Marks an import in progress with a document of a fixed id, so that the store admits only one of two. No model may have
 * this collection, which no export contains.
 */
export const CLAIMS = 'tandemImports';
const CLAIM = { _id: 'import' } as object;
const UNFINISHED =
  'An import into this database is under way, or was broken off: wait for its end, or drop the database to start over';
/** Keeps values as stored: the store has four types of numbers, JavaScript one. */
const AS_STORED = { promoteValues: false, promoteLongs: false, promoteBuffers: false };

/** A refused import; the message says why, and whether the database is as empty as before. */
export class ImportError extends Error {
  override readonly name = 'ImportError';
}

export interface TransferProgress {
  collection: string;
  /** So far, over all collections. */
  documents: number;
  /** Of an import: documents that gave way to newer ones, with which they shared a unique value. */
  leftOut?: number;
}
type OnProgress = (progress: TransferProgress) => void;
/** The searched fields of a collection: what finds its records is made at the import. */
type SearchedIn = (collectionName: string) => readonly string[];

interface Line {
  collection: string;
  document: mongo.BSON.Document;
}

/**
 * Every document of a database, soft-deleted ones too, each as a line of JSON (MongoDB's canonical extended JSON, which
 * keeps all types), between a first line with the format and a last one with the count. Not a snapshot: it may contain
 * writes made meanwhile.
 * @throws StoreSetupError for a part of a database, as by `expectWhole`
 */
export async function* exportLines(database: mongo.Db, onProgress: OnProgress, searchedIn: SearchedIn): AsyncGenerator<string> {
  await expectWhole(database);
  yield JSON.stringify({ tandemExport: VERSION });
  let documents = 0;
  for (const collection of await collectionNames(database)) {
    const hidden = searchedIn(collection).length > 0 ? { projection: { [SEARCH]: 0 } } : {};
    for await (const document of database.collection(collection).find({}, { sort: { _id: 1 }, ...hidden, ...AS_STORED })) {
      documents += 1;
      yield EJSON.stringify({ collection, document }, { relaxed: false });
      onProgress({ collection, documents });
    }
  }
  yield JSON.stringify({ end: { documents } });
}

/**
 * Stores the output of `exportLines` in a database without documents. All or nothing: a failed import removes what it
 * stored, or leaves a mark by which a further import refuses the database. Of two documents that share a unique value the
 * newer one is stored.
 * @returns the number of documents stored
 * @throws ImportError for a database that is not empty, lines that are not of an export, or an export that breaks off
 */
export async function importLines(
  database: mongo.Db,
  lines: AsyncIterable<string>,
  onProgress: OnProgress,
  searchedIn: SearchedIn,
): Promise<number> {
  await claim(database);
  const touched = new Set<string>();
  let documents: number;
  try {
    await expectEmpty(database);
    documents = await store(database, lines, { touched, onProgress, searchedIn });
  } catch (error) {
    // else the claim stays, because the database is neither empty nor whole
    await empty(database, touched).catch(() => {
      const why = error instanceof Error ? error.message : String(error);
      throw new ImportError(`${why}. What was stored could not be removed: drop the database`, { cause: error });
    });
    await release(database);
    throw error;
  }
  await release(database);
  return documents;
}

/** Removes all documents of collections, in batches: a write of many takes longer than the store may take to answer. */
async function empty(database: mongo.Db, names: ReadonlySet<string>): Promise<void> {
  for (const collection of [...names].map((name) => database.collection(name)))
    for (;;) {
      const found = await collection.find({}, { projection: { _id: 1 }, limit: REMOVED }).toArray();
      if (found.length === 0) break;
      await collection.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } });
    }
}

const release = (database: mongo.Db) => database.collection(CLAIMS).deleteOne(CLAIM);

/**
 * Claims the database, because a failed import removes its documents and must not remove another's. @throws ImportError
 */
async function claim(database: mongo.Db): Promise<void> {
  try {
    await database.collection(CLAIMS).insertOne({ ...CLAIM });
  } catch (error) {
    if (isDuplicateKey(error) === false) throw error;
    throw new ImportError(UNFINISHED);
  }
}

/**
 * A part of a database looks like a whole one, and what is written beside an import is removed where that fails.
 * @throws StoreSetupError while an import is under way, or after one was broken off
 */
export async function expectWhole(database: mongo.Db): Promise<void> {
  if (await database.collection(CLAIMS).findOne(CLAIM)) throw new StoreSetupError(UNFINISHED);
}

async function expectEmpty(database: mongo.Db): Promise<void> {
  for (const name of await collectionNames(database)) {
    if (await database.collection(name).findOne({}, { projection: { _id: 1 } }))
      throw new ImportError(`The database has documents already (in ${name}); an import needs an empty one`);
  }
}

/**
 * Inserts documents in order. One that shares a unique value with an earlier one takes its place: the export read the
 * earlier one before a change gave the value away.
 * @returns how many were left out
 */
async function insert(collection: mongo.Collection, documents: mongo.BSON.Document[]): Promise<number> {
  let leftOut = 0;
  for (let rest = documents; rest.length > 0;) {
    try {
      await collection.insertMany(rest);
      break;
    } catch (error) {
      const refused = (error as { writeErrors?: { index: number }[] }).writeErrors?.[0]?.index;
      if (isDuplicateKey(error) === false || refused === undefined) throw error;
      leftOut += await insertInPlace(collection, rest[refused] as mongo.BSON.Document);
      rest = rest.slice(refused + 1);
    }
  }
  return leftOut;
}

/** @returns how many gave way: one for each unique index at most */
async function insertInPlace(collection: mongo.Collection, document: mongo.BSON.Document): Promise<number> {
  for (let leftOut = 0; ; leftOut += 1) {
    try {
      await collection.insertOne(document);
      return leftOut;
    } catch (error) {
      if (!(await removeEarlier(collection, error))) throw error;
    }
  }
}

/** Removes the document whose unique value another was refused for; not one of the same id, which no change explains. */
async function removeEarlier(collection: mongo.Collection, error: unknown): Promise<boolean> {
  const refused = isDuplicateKey(error);
  if (refused === false || refused.index === '_id_') return false;
  const index = (await collection.indexes()).find(({ name }) => name === refused.index);
  const { keyValue } = error as { keyValue?: object };
  if (!index || !keyValue) return false;
  const shared = Object.entries(keyValue).map(([path, value]) => ({ [path]: { $eq: value as unknown } }));
  // documents outside of a partial index share the value freely
  const { deletedCount } = await collection.deleteOne({ $and: [index.partialFilterExpression ?? {}, ...shared] });
  return deletedCount === 1;
}

async function store(
  database: mongo.Db,
  lines: AsyncIterable<string>,
  { touched, onProgress, searchedIn }: { touched: Set<string>; onProgress: OnProgress; searchedIn: SearchedIn },
): Promise<number> {
  let at = 0;
  let documents = 0;
  let leftOut = 0;
  let isOver = false;
  let batch: Line[] = [];
  let characters = 0;

  async function flush(): Promise<void> {
    const [first] = batch;
    if (!first) return;
    touched.add(first.collection);
    const searched = searchedIn(first.collection);
    const searchable = batch.map(({ document }) => withSearch(document, searched));
    leftOut += await insert(database.collection(first.collection), searchable);
    documents += batch.length;
    onProgress({ collection: first.collection, documents: documents - leftOut, leftOut });
    batch = [];
    characters = 0;
  }

  for await (const text of lines) {
    at += 1;
    if (isOver) throw new ImportError(`Line ${at}: the export ended before it`);
    const content = parse(text, at);
    if (at === 1) {
      if (Number(content.tandemExport) !== VERSION)
        throw new ImportError(`Line 1 does not begin an export of version ${VERSION}`);
      continue;
    }
    if ('end' in content) {
      await flush();
      isOver = true;
      const { documents: declared } = content.end as { documents?: unknown };
      if (Number(declared) !== documents)
        throw new ImportError(`Line ${at}: the export has ${String(declared)} documents, of which ${documents} came`);
      continue;
    }
    const line = asLine(content, at);
    const isFull = batch.length >= BATCH.documents || characters >= BATCH.characters;
    if (isFull || (batch[0] && batch[0].collection !== line.collection)) await flush();
    batch.push(line);
    characters += text.length;
  }
  if (!isOver) throw new ImportError(`The export breaks off after line ${at}`);
  return documents - leftOut;
}

function parse(text: string, at: number): Record<string, unknown> {
  try {
    const content: unknown = EJSON.parse(text, { relaxed: false });
    if (typeof content === 'object' && content !== null) return content as Record<string, unknown>;
  } catch {
    // reported below
  }
  throw new ImportError(`Line ${at} is not a line of an export`);
}

function asLine({ collection, document }: Record<string, unknown>, at: number): Line {
  const isLine = typeof collection === 'string' && /^[^$.\0][^$\0]*$/.test(collection) && !collection.startsWith('system.');
  if (!isLine || typeof document !== 'object' || document === null)
    throw new ImportError(`Line ${at} is not a line of an export`);
  return { collection, document };
}

async function collectionNames(database: mongo.Db): Promise<string[]> {
  const found = await database.listCollections({ type: 'collection' }, { nameOnly: true }).toArray();
  return found
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('system.') && name !== CLAIMS)
    .sort();
}
