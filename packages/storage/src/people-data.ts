import type { mongo } from 'mongoose';
import type { Clock } from './clock.js';
import { createErasure, type Erased, type ErasureSettings } from './people-erasure.js';
import { exportOf, parentsFirst, type ExportedRecords } from './people-export.js';
import { batchesOf, type Asked, type Indexed, type Pace, type StoredRecord } from './people-records.js';
import { undeclared, type Held, type NamedPerson } from './people.js';
import { createPurges } from './purges.js';

/** What records say of people, by what their models declare (decisions F7, F8), and the end of records. */
export interface PeopleData extends Omit<ReturnType<typeof createPurges>, 'purge'> {
  /** Takes a person out of all records: one pass, which may be repeated. */
  erase(person: NamedPerson, settings: ErasureSettings): Promise<Erased>;
  /** Takes a person out of the log of events. @returns how many events were changed */
  eraseEvents(person: NamedPerson, settings: ErasureSettings): Promise<number>;
  /** All records that name a person, a few at a time. */
  exported(person: NamedPerson, pace: Pace): AsyncGenerator<ExportedRecords>;
  /** Paths that look as if they named people, of which no model says what becomes of them. @param others names of other ids */
  undeclared(others: readonly string[]): string[];
  /** Whether a model says what becomes of people who are named at a path. */
  declares(collectionName: string, path: string): boolean;
  /** The addresses that a record of a kind had by its events. @param among these events */
  emailsOf(kind: string, id: string, among?: object): Promise<string[]>;
  /** Records of a collection that match, a few at a time: by an index on the path, else by looking through all. */
  found(definition: Indexed, asked: Asked, pace: Pace): AsyncGenerator<StoredRecord[]>;
  /** Sets fields of records, of which nobody is told. */
  write(definition: { collectionName: string }, filter: object, set: object): Promise<void>;
  writeMany(definition: { collectionName: string }, operations: readonly object[]): Promise<void>;
  /** Puts a document in the place of a record, of which nobody is told. @param document a pipeline's, with `$` for fields */
  replace(definition: { collectionName: string }, filter: object, document: object): Promise<{ matchedCount: number }>;
  /** Removes records, of which nobody is told. */
  remove(definition: { collectionName: string }, filter: object): Promise<void>;
  /** The collections whose records are deleted softly, parents first. */
  softDeleted(): string[];
}

interface PeopleDataOptions {
  models: ReadonlyMap<string, Held>;
  database: () => mongo.Db;
  clock: Clock;
  onWrite(collectionName: string): void;
}

/** @param onWrite called after writes that bypass the models */
export function createPeopleData({ models, database: held, clock, onWrite: written }: PeopleDataOptions): PeopleData {
  const { purge, ...purges } = createPurges({ models, database: held, onWrite: written });
  const erasure = createErasure({ models, database: held, clock, purge, onWrite: written });
  return {
    ...purges,
    erase: erasure.records,
    eraseEvents: erasure.events,
    exported: (person, pace) => exportOf(models, held(), person, pace),
    declares(collectionName, path) {
      const declared = Object.keys(models.get(collectionName)?.definition.people ?? {});
      return declared.some((one) => path === one || path.startsWith(`${one}.`));
    },
    async emailsOf(kind, id, among) {
      const filter = { 'subject.id': id, 'subject.type': kind, 'state.email': { $gt: '' }, ...among };
      return held().collection('events').distinct('state.email', filter) as Promise<string[]>;
    },
    found: (definition, asked, pace) => batchesOf(held().collection(definition.collectionName), definition, asked, pace),
    async write({ collectionName }, filter, set) {
      await held().collection(collectionName).updateMany(filter, { $set: set });
      written(collectionName);
    },
    async writeMany({ collectionName }, operations) {
      await held()
        .collection(collectionName)
        .bulkWrite(operations as never, { ordered: false });
    },
    replace: ({ collectionName }, filter, document) =>
      held()
        .collection(collectionName)
        .updateOne(filter, [{ $replaceWith: document }]),
    async remove({ collectionName }, filter) {
      await held().collection(collectionName).deleteMany(filter);
    },
    undeclared: (others) => undeclared(models.values(), others),
    softDeleted: () => parentsFirst(models).flatMap(({ definition }) => (definition.softDelete ? definition.collectionName : [])),
  };
}
