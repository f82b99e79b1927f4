import { isDeepStrictEqual } from 'node:util';
import type { mongo } from 'mongoose';
import type { BaseRecord, IndexDefinition, ModelDefinition } from './model.js';
import { retryRead } from './read-retries.js';

/** An index as the store expects it. */
export interface DeclaredIndex {
  name: string;
  key: Record<string, 1 | -1>;
  unique?: true;
  partialFilterExpression?: Record<string, unknown>;
  expireAfterSeconds?: 0;
}

export interface IndexName {
  collection: string;
  index: string;
}

export interface IndexCreation {
  created: IndexName[];
  existing: IndexName[];
}

export interface IndexReport {
  collection: string;
  /** Declared indexes, with the query that each serves. */
  declared: { index: string; serves: string; exists: boolean }[];
  /** In the store but not declared. */
  extra: string[];
}

/** The store's code for an index that does not exist. */
const INDEX_NOT_FOUND = 27;

type Definition = ModelDefinition<BaseRecord>;

/**
 * The indexes of a model, named after their keys, without duplicates: two lists may declare the same one. Those of
 * soft-deleting models cover live records unless declared otherwise.
 */
export function declaredIndexes(definition: Definition): (DeclaredIndex & { serves: string })[] {
  const all = definition.indexes.map((index) => declare(index, definition.softDelete));
  const declared = [...new Map(all.map((index) => [JSON.stringify({ ...index, serves: '' }), index])).values()];
  const { expires } = definition;
  if (expires === undefined) return declared;
  return [
    ...declared,
    { name: `${expires}_expires`, key: { [expires]: 1 }, expireAfterSeconds: 0, serves: 'removal of what has expired' },
  ];
}

/**
 * That a field is one of these texts, for fields with an index of texts alone (`where: { field: { $type: 'string' } }`). MongoDB
 * uses such an index only for queries that repeat its condition, and reads the whole collection for others.
 */
export const textIn = (texts: readonly string[]) => ({ $in: [...texts], $type: 'string' as const });

function declare({ keys, unique, where, deletedToo, serves }: IndexDefinition, softDelete: boolean) {
  const partial = { ...where, ...(softDelete && !deletedToo ? { deletedAt: null } : {}) };
  const name = [
    ...Object.entries(keys).map(([path, direction]) => `${path}_${direction}`),
    ...(unique ? ['unique'] : []),
    ...(where ? ['where', ...Object.keys(where)] : []),
  ].join('_');
  return {
    name,
    key: keys,
    serves,
    ...(unique ? { unique: true as const } : {}),
    ...(Object.keys(partial).length > 0 ? { partialFilterExpression: partial } : {}),
  };
}

/**
 * Requests the indexes of a collection unless all are there as declared. They are created together, which scans it once;
 * one by one only if that fails, to find which cannot be created.
 * @throws Error that names every index that could not be created; the others are created
 */
export async function createIndexes(database: mongo.Db, definitions: Definition[]): Promise<IndexCreation> {
  const results: Awaited<ReturnType<typeof createIndexesOf>>[] = [];
  // sequentially: other instances may be serving requests
  for (const definition of definitions) results.push(await createIndexesOf(database, definition));
  const failures = results.flatMap((result) => result.failures);
  if (failures.length > 0) throw new Error(`Indexes could not be made:\n${failures.join('\n')}`);
  return { created: results.flatMap(({ created }) => created), existing: results.flatMap(({ existing }) => existing) };
}

async function createIndexesOf(database: mongo.Db, definition: Definition): Promise<IndexCreation & { failures: string[] }> {
  const collection = database.collection(definition.collectionName);
  const present = await existingIndexes(database, definition.collectionName);
  const indexes = declaredIndexes(definition).map(({ serves: _, ...index }) => index);
  const failed = new Map<string, string>();
  async function dropReplaced(): Promise<void> {
    const replaced = definition.indexes.flatMap(({ replaces }) => (replaces && present.has(replaces) ? [replaces] : []));
    for (const name of replaced)
      await collection.dropIndex(name).catch((error: unknown) => {
        // another instance was faster
        if ((error as { code?: unknown }).code !== INDEX_NOT_FOUND) throw error;
      });
  }
  const create = async (some: typeof indexes) => {
    const ask = () => collection.createIndexes(some);
    // retried after a timeout: the second call waits for the build that the first began
    await ask().catch((error: unknown) => retryRead(error, ask));
  };
  try {
    if (!indexes.every((index) => isSame(index, present.get(index.name)))) await create(indexes);
  } catch {
    for (const index of indexes) await create([index]).catch((error: unknown) => failed.set(index.name, explain(error)));
  }
  if (failed.size === 0) await dropReplaced();
  const made = indexes
    .filter(({ name }) => !failed.has(name))
    .map(({ name }) => ({ collection: definition.collectionName, index: name }));
  return {
    created: made.filter(({ index }) => !present.has(index)),
    existing: made.filter(({ index }) => present.has(index)),
    failures: [...failed].map(([name, why]) => `${definition.collectionName}.${name}: ${why}`),
  };
}

function explain(error: unknown): string {
  const { code, message } = error as { code?: unknown; message: string };
  if (code === 11_000) return `existing records share a value that must be unique (${message})`;
  if (code === 85 || code === 86) return 'an index of that name or on those keys exists with other options; drop it first';
  return message;
}

/** Compares the declared indexes with those in the store. */
export async function compareIndexes(database: mongo.Db, definitions: Definition[]): Promise<IndexReport[]> {
  const reports: IndexReport[] = [];
  for (const definition of definitions) {
    const present = await existingIndexes(database, definition.collectionName);
    const declared = declaredIndexes(definition).map(({ name, serves }) => ({ index: name, serves, exists: present.has(name) }));
    const names = new Set(['_id_', ...declared.map(({ index }) => index)]);
    reports.push({
      collection: definition.collectionName,
      declared,
      extra: [...present.keys()].filter((name) => !names.has(name)),
    });
  }
  return reports;
}

/** What some stores say of every index. */
const DEFAULTS = { collation: { locale: 'simple' } };

/** Whether an index in the store, one that is finished, is as declared. */
function isSame({ key, ...declared }: DeclaredIndex, found: mongo.Document | undefined): boolean {
  const { v: _, key: foundKey, ...others } = found ?? {};
  const isOfSameKeys = isDeepStrictEqual(Object.entries((foundKey as object | undefined) ?? {}), Object.entries(key));
  return isOfSameKeys && isDeepStrictEqual({ ...DEFAULTS, ...others }, { ...DEFAULTS, ...declared });
}

/**
 * The indexes in the store by name, those that are still being built as `{ spec, … }`; none while the collection does
 * not exist.
 */
async function existingIndexes(database: mongo.Db, collection: string): Promise<Map<string, mongo.Document>> {
  // no collection has more than 64
  const read = () => database.command({ listIndexes: collection, includeBuildUUIDs: true, cursor: { batchSize: 100 } });
  try {
    const { cursor } = await read().catch((error: unknown) => retryRead(error, read));
    const { firstBatch } = cursor as { firstBatch: (mongo.Document & { name: string; spec?: { name: string } })[] };
    return new Map(firstBatch.map((index) => [index.spec?.name ?? index.name, index]));
  } catch (error) {
    if ((error as { code?: unknown }).code === 26) return new Map();
    throw error;
  }
}
