import { setImmediate } from 'node:timers/promises';
import { problemAt, problemOf, shorten, type ListQueryError } from './errors.js';
import { allOf, type StoreFilter } from './filter.js';
import { valueAt } from './keyset.js';
import { LIMITS } from './limits.js';
import type { ListResource, Relation } from './resource.js';
import { showRecord, type Show, type StoredDocument } from './show.js';
import { limitStore, type ListCollection, type PageOptions } from './store.js';
import { without } from './transformation.js';
import type { PathReference } from './tree.js';

/** Where a relation's records are, and which of them the caller may see. */
export interface RelatedSource {
  collection: ListCollection;
  scope?: StoreFilter;
  show?: Show;
  /** Adds to shown records what needs another query, for all at once. */
  complete?(shown: unknown[]): Promise<void>;
}

/** Finds related records where more than their ids decides who sees them, or where they are not in a collection. */
export interface RelatedReader {
  /** @returns those that the caller may see, in their shown form, by id. A list counts as many records as it has. */
  read(ids: readonly string[]): Promise<ReadonlyMap<string, unknown>>;
}

/** By relation path: `category`, `category.parent`. */
export type RelatedSources = Readonly<Record<string, ListCollection | RelatedSource | RelatedReader>>;

/** A requested relation, and the relations of its records. */
export interface Expansion {
  name: string;
  path: string;
  relation: Relation;
  /** The declaration of the related records. */
  resource: ListResource | undefined;
  inner: Expansion[];
}

/**
 * Checks `$expand` against the declared relations (decisions L6).
 * @throws ListQueryError for an unknown relation, or one too deep
 */
export function bindExpand(items: readonly PathReference[], resource: ListResource, parameter = '$expand'): Expansion[] {
  const expansions: Expansion[] = [];
  for (const { path, at = 0 } of items) {
    const names = path.split('.');
    if (names.length > LIMITS.expandDepth) throw problemAt(parameter, at, `goes deeper than ${LIMITS.expandDepth} relations`);
    let level = expansions;
    let of: ListResource | undefined = resource;
    for (let n = 0; n < names.length; n++) {
      let name = names[n] as string;
      // `items.product` may be one relation: of each item
      if (!of?.relations.has(name) && n + 1 < names.length) name = `${name}.${names[++n]}`;
      const relation = of?.relations.get(name);
      if (!relation) throw problemAt(parameter, at, `has the unknown relation '${shorten(path)}'`);
      const existing = level.find((expansion) => expansion.name === name);
      const expansion: Expansion = existing ?? {
        name,
        path: names.slice(0, n + 1).join('.'),
        relation,
        resource: relation.resource(),
        inner: [],
      };
      if (!existing) level.push(expansion);
      level = expansion.inner;
      of = expansion.resource;
    }
  }
  return expansions;
}

/** How a query reads related records. */
interface Reading {
  sources: RelatedSources;
  maxTimeMs: number;
  signal?: AbortSignal | undefined;
  /** Runs a costly command when it is the caller's turn. */
  admit<T>(command: () => Promise<T>): Promise<T>;
}

/** A record, its shown form, and how often it appears in the answer. */
interface Placed {
  record: StoredDocument;
  shown: unknown;
  times: number;
}

/** Milliseconds of work on answers before others get their turn. */
const SLICE_MS = 5;
/** The turn of the last slice: only one slice runs per turn of the event loop, however many answers are being made. */
let lastTurn: Promise<unknown> = Promise.resolve();

function othersAnswered(): Promise<unknown> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

/**
 * Embeds related records under the relation's name: null for a missing record, a list for a list of ids. Runs one query
 * per relation, however many records there are.
 * @returns the size of the related records' JSON, in bytes
 * @throws ListQueryError when the answer would hold too many: a record in 100 rows is sent 100 times, so it counts 100
 * times (decisions H3)
 */
export async function expandRecords(
  records: readonly StoredDocument[],
  shown: readonly unknown[],
  expansions: readonly Expansion[],
  reading: Reading,
): Promise<number> {
  const rows = records.map((record, n) => ({ record, shown: shown[n], times: 1 }));
  let standing = 0;
  let bytes = 0;
  function count(times: number, related: unknown): void {
    standing += times * (Array.isArray(related) ? related.length : 1);
    bytes += times * Buffer.byteLength(JSON.stringify(related));
    if (standing > LIMITS.expandRecords || bytes > LIMITS.expandBytes) throw expandsTooMuch();
  }
  await embed(rows, expansions, { ...reading, count });
  return bytes;
}

interface CountedReading extends Reading {
  /** Counts what the answer holds. @throws ListQueryError as soon as it is too much */
  count(times: number, shown: unknown): void;
}

/** Embeds related records by reference: nothing is copied before its total size is known. */
async function embed(rows: readonly Placed[], expansions: readonly Expansion[], reading: CountedReading): Promise<void> {
  await Promise.all(
    expansions.map(async (expansion) => {
      const { places, name, from } = placesOf(rows, expansion);
      const related = await findRelated(places, from, expansion, reading);
      const pick = (id: unknown) => related.get(keyOf(id))?.shown ?? null;
      for (const { record, shown } of places) {
        const id = valueAt(record, from);
        (shown as Record<string, unknown>)[name] = Array.isArray(id) ? id.map(pick) : pick(id);
      }
    }),
  );
}

/** Where related records go: into the rows, or for `items.product` into the items of each row. */
function placesOf(
  rows: readonly Placed[],
  { name, relation }: Expansion,
): { places: readonly Placed[]; name: string; from: string } {
  const [list, inner] = name.split('.');
  if (list === undefined || inner === undefined) return { places: rows, name, from: relation.from };
  const itemsOf = (value: unknown) => [valueAt(value, list)].flat().filter((item) => typeof item === 'object' && item !== null);
  const places = rows.flatMap(({ record, shown, times }) => {
    const items = itemsOf(shown);
    return itemsOf(record).map((item, n): Placed => ({ record: item as StoredDocument, shown: items[n] ?? {}, times }));
  });
  return { places, name: inner, from: relation.from.slice(list.length + 1) };
}

/** The refusal of an answer that would hold too many related records, for readers that know it before they read. */
export function expandsTooMuch(): ListQueryError {
  return problemOf('$expand', 'gives too much');
}

/** The related records by id. */
async function findRelated(
  rows: readonly Placed[],
  from: string,
  { path, relation, resource, inner }: Expansion,
  reading: CountedReading,
): Promise<Map<string | undefined, Placed>> {
  const ids = new Map<string | undefined, { id: unknown; times: number }>();
  for (const { record, times } of rows) {
    for (const id of [valueAt(record, from)].flat()) {
      const named = ids.get(keyOf(id));
      if (named) named.times += times;
      else ids.set(keyOf(id), { id, times });
    }
  }
  ids.delete(undefined);
  if (ids.size === 0) return new Map();
  const source = sourceOf(reading.sources, path);
  const related = new Map<string | undefined, Placed>();
  if ('read' in source) {
    const texts = [...ids.values()].flatMap(({ id }) => (typeof id === 'string' ? [id] : []));
    for (const [id, shown] of await source.read(texts)) {
      const { times = 0 } = ids.get(keyOf(id)) ?? {};
      reading.count(times, shown);
      related.set(keyOf(id), { record: shown as StoredDocument, shown, times });
    }
    return related;
  }
  const { collection, scope, show = showRecord, complete } = source;
  const live = resource?.softDelete === false ? undefined : { deletedAt: null };
  const named = { [relation.to]: { $in: [...ids.values()].map(({ id }) => id) } };
  const projection = without(resource?.hidden ?? ['__v', 'deletedAt']);
  const store = limitStore(collection, reading, '$expand');
  const filter = allOf(named, live, scope);
  // up to a page's worth of ids is read from an index, without waiting at the gate
  const read = (options: PageOptions) => {
    const find = () => store.find(filter, options);
    return ids.size <= LIMITS.top ? find() : reading.admit(find);
  };
  // the ids alone tell whether records appear too often, without reading what the answer would refuse
  const timesOf = (record: StoredDocument) => ids.get(keyOf(valueAt(record, relation.to)))?.times ?? 0;
  if (sum([...ids.values()].map(({ times }) => times)) > LIMITS.expandRecords) {
    const kept = await read({ projection: { [relation.to]: 1 }, limit: LIMITS.expandRecords + 1 });
    if (sum(kept.map(timesOf)) > LIMITS.expandRecords) throw expandsTooMuch();
  }
  const found = await read({ projection });
  let since = -Infinity;
  for (const record of found) {
    if (performance.now() - since >= SLICE_MS) {
      await othersAnswered();
      reading.signal?.throwIfAborted();
      since = performance.now();
    }
    const shown = show(record);
    const key = keyOf(valueAt(record, relation.to));
    const times = ids.get(key)?.times;
    if (shown === undefined || times === undefined) continue;
    if (!complete) reading.count(times, shown);
    related.set(key, { record, shown, times });
  }
  if (complete) {
    await complete([...related.values()].map(({ shown }) => shown));
    for (const { times, shown } of related.values()) reading.count(times, shown);
  }
  await embed([...related.values()], inner, reading);
  return related;
}

function sourceOf(sources: RelatedSources, path: string): RelatedSource | RelatedReader {
  const source = Object.hasOwn(sources, path) ? sources[path] : undefined;
  if (!source) throw new Error(`The relation ${path} was given no collection`);
  return 'collection' in source || 'read' in source ? source : { collection: source };
}

/** A map key for an id: undefined for invalid ids, so that only scalars reach the store's query. */
function keyOf(id: unknown): string | undefined {
  if (typeof id === 'string') return `s${id}`;
  if (typeof id === 'number') return `n${id}`;
  // oxlint-disable-next-line typescript/no-base-to-string -- the store's ids have a toString of their own
  return typeof id === 'object' && id !== null && '_bsontype' in id && id._bsontype === 'ObjectId' ? `o${String(id)}` : undefined;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
