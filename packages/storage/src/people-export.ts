import type { mongo } from 'mongoose';
import { namesOf, type Held, type NamedPerson, type Naming } from './people.js';
import { batchesOf, type Pace, type StoredRecord } from './people-records.js';
import { PURGING } from './purges.js';
import { SEARCH } from './search.js';
import { TRACE } from './traces.js';

/** Some records of a collection that name a person at a path. */
export interface ExportedRecords {
  collection: string;
  path: string;
  records: StoredRecord[];
}

const NEVER = [TRACE, SEARCH, PURGING, 'deletionId', 'restoration', 'notes', 'writer', 'hiddenBy', 'treeVersion'];

function fieldsOf(path: string, { exported }: Naming, names: readonly string[]): Record<string, unknown> {
  if (!exported) return Object.fromEntries(NEVER.map((field) => [field, 0]));
  const shown = Object.fromEntries(exported.map((field) => [field, 1]));
  const [list = '', ...rest] = path.split('.');
  // of a list of people only the person's own element
  return rest.length === 0 ? shown : { ...shown, [list]: { $elemMatch: { [rest.join('.')]: { $in: names } } } };
}

/** All records that name a person, as their models declare (decisions F7), a few at a time. */
export async function* exportOf(
  models: Iterable<Held>,
  database: mongo.Db,
  person: NamedPerson,
  pace: Pace,
): AsyncGenerator<ExportedRecords> {
  for (const { definition } of models) {
    const { collectionName: collection, people } = definition;
    for (const [path, naming] of Object.entries(people)) {
      const names = namesOf(person, naming);
      if (naming.exported === false || names.length === 0) continue;
      const fields = fieldsOf(path, naming, names) as Record<string, 0 | 1>;
      const asked = { path, filter: { [path]: { $in: [...names] } }, fields };
      for await (const records of batchesOf(database.collection<StoredRecord>(collection), definition, asked, pace))
        yield { collection, path, records };
    }
  }
}
