import type { mongo } from 'mongoose';
import { namesOf, type Held, type NamedPerson, type Naming } from './people.js';
import { batchesOf, type Asked, type Pace, type StoredRecord } from './people-records.js';
import { INTERNAL } from './traces.js';

/** Some records of a collection that name a person at a path. */
export interface ExportedRecords {
  collection: string;
  path: string;
  records: StoredRecord[];
}

const WHOLE = Object.fromEntries(INTERNAL.map((field) => [field, 0 as const]));

function fieldsOf(path: string, { exported }: Naming, names: readonly string[]): Record<string, unknown> {
  if (!exported) return WHOLE;
  const shown = Object.fromEntries(exported.map((field) => [field, 1]));
  const [list = '', ...rest] = path.split('.');
  // of a list of people only the person's own element
  return rest.length === 0 ? shown : { ...shown, [list]: { $elemMatch: { [rest.join('.')]: { $in: names } } } };
}

/** Parents before their children. */
export function parentsFirst(models: ReadonlyMap<string, Held>): Held[] {
  const seen = new Set<Held>();
  const ordered: Held[] = [];
  function add(held: Held | undefined): void {
    if (!held || seen.has(held)) return;
    seen.add(held);
    for (const { with: parents } of held.definition.cascades) add(models.get(parents));
    ordered.push(held);
  }
  for (const held of models.values()) add(held);
  return ordered;
}

/**
 * All records that name a person, as their models declare (decisions F7), a few at a time; with the children of records that are the
 * person's own. Those of a collection follow one another, since they are one file.
 */
export async function* exportOf(
  models: ReadonlyMap<string, Held>,
  database: mongo.Db,
  person: NamedPerson,
  pace: Pace,
): AsyncGenerator<ExportedRecords> {
  const own = new Map<string, string[]>();
  for (const { definition } of parentsFirst(models)) {
    const { collectionName: collection, people, cascades } = definition;
    const read = (asked: Asked) => batchesOf(database.collection<StoredRecord>(collection), definition, asked, pace);
    for (const [path, naming] of Object.entries(people)) {
      const names = namesOf(person, naming);
      if (naming.exported === false || names.length === 0) continue;
      const fields = fieldsOf(path, naming, names) as Asked['fields'] & object;
      for await (const records of read({ path, filter: { [path]: { $in: [...names] } }, fields })) {
        yield { collection, path, records: naming.shown ? records.map(naming.shown) : records };
        if (naming.erased !== 'remove') continue;
        own.set(collection, [...(own.get(collection) ?? []), ...records.map(({ _id }) => _id)]);
      }
    }
    for (const { with: parents, by } of cascades) {
      const filter = { [by]: { $in: own.get(parents) ?? [] } };
      if (!own.has(parents)) continue;
      for await (const records of read({ path: by, filter, fields: WHOLE })) yield { collection, path: by, records };
    }
  }
}
