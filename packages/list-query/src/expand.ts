import { problemAt, problemOf, shorten } from './errors.js';
import { allOf, type StoreFilter } from './filter.js';
import { valueAt } from './keyset.js';
import { LIMITS } from './limits.js';
import type { ListResource, Relation } from './resource.js';
import { showRecord, type Show, type StoredDocument } from './show.js';
import { limitStore, type ListCollection } from './store.js';
import { without } from './transformation.js';
import type { PathReference } from './tree.js';

/** Where the records of a relation are, and which of them this caller may see. */
export interface RelatedSource {
  collection: ListCollection;
  scope?: StoreFilter;
  show?: Show;
}

/** By the relation's path: `category`, `category.parent`. */
export type RelatedSources = Readonly<Record<string, ListCollection | RelatedSource>>;

/** A relation that is asked for, and those of its records. */
export interface Expansion {
  name: string;
  path: string;
  relation: Relation;
  /** What is known of the related records. */
  resource: ListResource | undefined;
  inner: Expansion[];
}

/**
 * Checks `$expand` against the declared relations (decisions L6).
 * @throws ListQueryError for what is no relation, or one too deep
 */
export function bindExpand(items: readonly PathReference[], resource: ListResource, parameter = '$expand'): Expansion[] {
  const expansions: Expansion[] = [];
  for (const { path, at = 0 } of items) {
    const names = path.split('.');
    if (names.length > LIMITS.expandDepth) throw problemAt(parameter, at, `goes deeper than ${LIMITS.expandDepth} relations`);
    let level = expansions;
    let of: ListResource | undefined = resource;
    names.forEach((name, n) => {
      const relation = of?.relations.get(name);
      if (!relation) throw problemAt(parameter, at, `has the unknown relation '${shorten(path)}'`);
      const known = level.find((expansion) => expansion.name === name);
      const expansion = known ?? {
        name,
        path: names.slice(0, n + 1).join('.'),
        relation,
        resource: relation.resource(),
        inner: [],
      };
      if (!known) level.push(expansion);
      level = expansion.inner;
      of = expansion.resource;
    });
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

/** What related records come to where they stand, those inside them included. */
interface Extent {
  records: number;
  /** Of their JSON. */
  bytes: number;
}

/** A related record as it is shown, and what it comes to with all that is inside. */
interface Related extends Extent {
  shown: unknown;
}

/**
 * Puts the related records into the shown ones, under the relation's name: null for what is gone, a list where the ids are one. One query a
 * relation, however many records there are.
 * @throws ListQueryError when the answer would have too much of them: a record that stands in 100 rows is sent 100 times (decisions H3)
 */
export async function expandRecords(
  records: readonly StoredDocument[],
  shown: readonly unknown[],
  expansions: readonly Expansion[],
  reading: Reading,
): Promise<void> {
  const whole: Extent = { records: 0, bytes: 0 };
  for (const extent of await embed(records, shown, expansions, reading)) add(whole, extent);
  if (whole.records > LIMITS.expandRecords || whole.bytes > LIMITS.expandBytes) throw tooMuch();
}

/** Embeds related records, each by reference, so that nothing is repeated before it is known how much that is. @returns by row what was put into it */
async function embed(
  records: readonly StoredDocument[],
  shown: readonly unknown[],
  expansions: readonly Expansion[],
  reading: Reading,
): Promise<Extent[]> {
  const extents = shown.map((): Extent => ({ records: 0, bytes: 0 }));
  await Promise.all(
    expansions.map(async (expansion) => {
      const ids = records.map((record) => valueAt(record, expansion.relation.from));
      const related = await findRelated(ids.flat(), expansion, reading);
      shown.forEach((row, n) => {
        const pick = (id: unknown) => {
          const found = related.get(keyOf(id));
          if (found) add(extents[n] as Extent, found);
          return found?.shown ?? null;
        };
        const id = ids[n];
        (row as Record<string, unknown>)[expansion.name] = Array.isArray(id) ? id.map(pick) : pick(id);
      });
    }),
  );
  return extents;
}

function add(to: Extent, { records, bytes }: Extent): void {
  to.records += records;
  to.bytes += bytes;
}

function tooMuch() {
  return problemOf('$expand', 'gives too much');
}

/** The related records as they are shown, by what names them. */
async function findRelated(
  ids: readonly unknown[],
  { path, relation, resource, inner }: Expansion,
  reading: Reading,
): Promise<Map<string | undefined, Related>> {
  const byKey = new Map(ids.map((id) => [keyOf(id), id]));
  byKey.delete(undefined);
  if (byKey.size === 0) return new Map();
  const { collection, scope, show = showRecord } = sourceOf(reading.sources, path);
  const live = resource?.softDelete === false ? undefined : { deletedAt: null };
  const named = { [relation.to]: { $in: [...byKey.values()] } };
  const projection = without(resource?.hidden ?? ['__v', 'deletedAt']);
  // each stands somewhere: one more than there may be is too much
  const limit = LIMITS.expandRecords + 1;
  const find = () => limitStore(collection, reading, '$expand').find(allOf(named, live, scope), { projection, limit });
  // as many as a page has rows are a page by an index
  const found = await (byKey.size <= LIMITS.top ? find() : reading.admit(find));
  if (found.length === limit) throw tooMuch();
  const all = found.map(show);
  const isShown = (_: unknown, n: number) => all[n] !== undefined;
  const [records, shown] = [found.filter(isShown), all.filter(isShown)];
  const sizes = shown.map((one) => Buffer.byteLength(JSON.stringify(one)));
  const extents = await embed(records, shown, inner, reading);
  return new Map(
    records.map((record, n) => {
      const { records: within, bytes } = extents[n] as Extent;
      return [keyOf(valueAt(record, relation.to)), { shown: shown[n], records: 1 + within, bytes: (sizes[n] as number) + bytes }];
    }),
  );
}

function sourceOf(sources: RelatedSources, path: string): RelatedSource {
  const source = Object.hasOwn(sources, path) ? sources[path] : undefined;
  if (!source) throw new Error(`The relation ${path} was given no collection`);
  return 'collection' in source ? source : { collection: source };
}

/** By what an id is found again: undefined for what is none, so that nothing but scalars ever stands in the query. */
function keyOf(id: unknown): string | undefined {
  if (typeof id === 'string') return `s${id}`;
  if (typeof id === 'number') return `n${id}`;
  // oxlint-disable-next-line typescript/no-base-to-string -- the store's ids have a toString of their own
  return typeof id === 'object' && id !== null && '_bsontype' in id && id._bsontype === 'ObjectId' ? `o${String(id)}` : undefined;
}
