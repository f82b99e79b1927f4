import type { Collection } from 'mongoose';
import { SEARCH, searchOf, withSearch } from './search.js';

type Plain = Record<string, unknown>;
type Arguments = unknown[];

/** The methods that write, with the place of what they write, and how it is completed. */
const WRITES = {
  insertOne: 0,
  insertMany: 0,
  replaceOne: 1,
  findOneAndReplace: 1,
  updateOne: 1,
  updateMany: 1,
  findOneAndUpdate: 1,
  bulkWrite: 0,
} as const;
/** The methods that read, with the place of their options. */
const READS = { find: 1, findOne: 1, findOneAndUpdate: 2, findOneAndReplace: 2, findOneAndDelete: 1 } as const;

/**
 * Keeps, in the very writes of a collection's searched fields, what finds its records, and hides it from reads. Each
 * field has an entry of its own, made of the value that the write sets, so that it agrees with the record whatever
 * else is written at the same time.
 */
export function keepSearch(collection: Collection, searched: readonly string[]): void {
  for (const [name, at] of Object.entries(WRITES))
    wrap(collection, name, (args) => {
      args[at] = completed(name, args[at], searched);
    });
  for (const [name, at] of Object.entries(READS))
    wrap(collection, name, (args) => {
      args[at] = hiding(args[at] as Plain | undefined);
    });
}

function wrap(collection: Collection, name: string, prepare: (args: Arguments) => void): void {
  const operation: unknown = Reflect.get(collection, name);
  if (typeof operation !== 'function') throw new Error(`The driver has no operation ${name}`);
  Reflect.set(collection, name, (...args: Arguments): unknown => {
    prepare(args);
    return Reflect.apply(operation, collection, args);
  });
}

function completed(name: string, written: unknown, searched: readonly string[]): unknown {
  if (name === 'insertMany') return (written as object[]).map((document) => withSearch(document, searched));
  if (name === 'bulkWrite') return (written as Plain[]).map((operation) => inOperation(operation, searched));
  return name.includes('pdate') ? inUpdate(written as object, searched) : withSearch(written as object, searched);
}

/** `{ updateOne: { filter, update } }`, `{ insertOne: { document } }`, `{ replaceOne: { filter, replacement } }`. */
function inOperation(operation: Plain, searched: readonly string[]): Plain {
  const [name, body] = Object.entries(operation)[0] as [string, { document?: object; replacement?: object; update?: object }];
  return {
    [name]: {
      ...body,
      ...(body.document && { document: withSearch(body.document, searched) }),
      ...(body.replacement && { replacement: withSearch(body.replacement, searched) }),
      ...(body.update && { update: inUpdate(body.update, searched) }),
    },
  };
}

const SETTING = ['$set', '$setOnInsert', '$addFields', '$unset'];

/** An update by operators, or by a pipeline. */
function inUpdate(update: object, searched: readonly string[]): object {
  if (Array.isArray(update)) return update.map((stage: Plain) => inStage(stage, searched));
  const set: Plain = {};
  const whole: Plain = { ...update };
  for (const operator of Object.keys(whole)) {
    const fields = (whole[operator] ?? {}) as Plain;
    const touched = searched.filter((field) => Object.hasOwn(fields, field));
    if (touched.length === 0) continue;
    if (!SETTING.includes(operator)) throw new TypeError(`${operator} cannot change the searched field ${touched.join()}`);
    const entries = searchOf(operator === '$unset' ? {} : fields, touched);
    const paths = Object.fromEntries(Object.entries(entries).map(([field, entry]) => [`${SEARCH}.${field}`, entry]));
    if (operator === '$setOnInsert') whole[operator] = { ...fields, ...paths };
    else Object.assign(set, paths);
  }
  return Object.keys(set).length === 0 ? whole : { ...whole, $set: { ...(whole['$set'] as object | undefined), ...set } };
}

function inStage(stage: Plain, searched: readonly string[]): Plain {
  const [operator, fields] = Object.entries(stage)[0] as [string, unknown];
  if (operator !== '$set' && operator !== '$addFields') {
    const named = JSON.stringify(operator === '$unset' ? fields : null);
    const removed = searched.filter((field) => named.includes(`"${field}"`));
    if (removed.length > 0 || operator.startsWith('$replace') || operator === '$project')
      throw new TypeError(`${operator} cannot change a record with searched fields`);
    return stage;
  }
  const touched = searched.filter((field) => Object.hasOwn(fields as Plain, field));
  const values = Object.fromEntries(touched.map((field) => [field, literalOf((fields as Plain)[field], field)]));
  const entries = Object.entries(searchOf(values, touched));
  return { [operator]: { ...(fields as Plain), ...Object.fromEntries(entries.map(([field, $literal]) => [`${SEARCH}.${field}`, { $literal }])) } }; // prettier-ignore
}

/** @throws TypeError for a value that only the store knows */
function literalOf(value: unknown, field: string): unknown {
  if (value === null) return value;
  if (typeof value === 'object' && '$literal' in value) return value.$literal;
  if (typeof value === 'string' && !value.startsWith('$')) return value;
  throw new TypeError(`The searched field ${field} needs a value, not an expression`);
}

function hiding(options: Plain | undefined): Plain {
  const projection = (options?.['projection'] ?? {}) as Plain;
  const names = Object.entries(projection).filter(([field]) => field !== '_id');
  const isExclusion = names.every(([, shown]) => shown === 0 || shown === false);
  // `{ _id: 1 }` alone names all that is wanted
  const isOnlyId = names.length === 0 && (projection['_id'] === 1 || projection['_id'] === true);
  return isExclusion && !isOnlyId ? { ...options, projection: { ...projection, [SEARCH]: 0 } } : { ...options };
}
