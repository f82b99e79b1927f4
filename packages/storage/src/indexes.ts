import type { mongo } from 'mongoose';
import type { BaseRecord, IndexDefinition, ModelDefinition } from './model.js';
import { retryRead } from './read-retries.js';

/** An index as the store is asked for it. */
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
  /** Declared, with the query each serves. */
  declared: { index: string; serves: string; exists: boolean }[];
  /** In the store and not declared. */
  extra: string[];
}

type Definition = ModelDefinition<BaseRecord>;

/** The indexes of a model, named after their keys. Those of soft-deleting models hold live records unless they say otherwise. */
export function declaredIndexes(definition: Definition): (DeclaredIndex & { serves: string })[] {
  const declared = definition.indexes.map((index) => declare(index, definition.softDelete));
  const { expires } = definition;
  if (expires === undefined) return declared;
  return [
    ...declared,
    { name: `${expires}_expires`, key: { [expires]: 1 }, expireAfterSeconds: 0, serves: 'removal of what has expired' },
  ];
}

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

/** @throws Error that names every index that could not be made; the others are made */
export async function createIndexes(database: mongo.Db, definitions: Definition[]): Promise<IndexCreation> {
  const created: IndexName[] = [];
  const existing: IndexName[] = [];
  const failures: string[] = [];
  for (const definition of definitions) {
    const collection = database.collection(definition.collectionName);
    const present = await existingNames(collection);
    for (const { serves: _, key, ...options } of declaredIndexes(definition)) {
      const index = { collection: definition.collectionName, index: options.name };
      try {
        // Also when it exists: the store compares the definitions. And again when the answer took too long: a second call
        // waits for the build that the first began.
        const create = () => collection.createIndex(key, options);
        await create().catch((error: unknown) => retryRead(error, create));
        (present.has(options.name) ? existing : created).push(index);
      } catch (error) {
        failures.push(`${index.collection}.${index.index}: ${explain(error)}`);
      }
    }
  }
  if (failures.length > 0) throw new Error(`Indexes could not be made:\n${failures.join('\n')}`);
  return { created, existing };
}

function explain(error: unknown): string {
  const { code, message } = error as { code?: unknown; message: string };
  if (code === 11_000) return `existing records share a value that must be unique (${message})`;
  if (code === 85 || code === 86) return 'an index of that name or on those keys exists with other options; drop it first';
  return message;
}

/** Declared indexes beside those in the store. */
export async function compareIndexes(database: mongo.Db, definitions: Definition[]): Promise<IndexReport[]> {
  const reports: IndexReport[] = [];
  for (const definition of definitions) {
    const present = await existingNames(database.collection(definition.collectionName));
    const declared = declaredIndexes(definition).map(({ name, serves }) => ({ index: name, serves, exists: present.has(name) }));
    const names = new Set(['_id_', ...declared.map(({ index }) => index)]);
    reports.push({ collection: definition.collectionName, declared, extra: [...present].filter((name) => !names.has(name)) });
  }
  return reports;
}

/** Names of the indexes in the store; none while the collection does not exist. */
async function existingNames(collection: mongo.Collection): Promise<Set<string>> {
  try {
    const indexes = await collection.listIndexes().toArray();
    return new Set(indexes.map(({ name }) => String(name)));
  } catch (error) {
    if ((error as { code?: unknown }).code === 26) return new Set();
    throw error;
  }
}
