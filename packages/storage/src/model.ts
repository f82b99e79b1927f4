import type mongoose from 'mongoose';
import type { Connection, Schema, SchemaDefinition } from 'mongoose';
import type { Clock } from './clock.js';
import { newId } from './ids.js';
import { clearedBy, type Naming } from './people.js';
import { PURGING } from './purges.js';
import { guardOperations, type OperationListener } from './operations.js';
import { interceptQueries } from './queries.js';
import { keepSearch } from './searched-writes.js';
import { hideDeleted, hideDeletedInAggregations, softDeletion } from './soft-deletion.js';
import { keepTraces } from './traced-writes.js';
import { TRACE, type Traced } from './traces.js';

/** Fields of every record (spec, "Common entity base"). */
export interface BaseRecord {
  _id: string;
  createdAt: Date;
  updatedAt: Date;
}

/** A soft-deleting record: `deletedAt` is null, or missing where a host wrote it, while it is live. */
export interface Live extends BaseRecord {
  deletedAt: Date | null;
}

export interface IndexDefinition {
  keys: Record<string, 1 | -1>;
  unique?: boolean;
  /** A partial index over matching records. On soft-deleting models it covers live records unless `deletedToo`. */
  where?: Record<string, unknown>;
  /** Covers soft-deleted records as well. */
  deletedToo?: boolean;
  /** The name of an index of earlier versions, which is removed once this one is there. */
  replaces?: string;
  /** The query that needs it. */
  serves: string;
}

/** A model's records are deleted and restored with their parents (decision R2). */
export interface Cascade<Field extends string = string> {
  /** The parents' collection. */
  with: string;
  /** The field with the parent's id. Records where it is null or missing have no parent. */
  by: Field;
  /**
   * Whether records change parents. An undone change may move even a deleted record, so a restore finds these records
   * by their deletion alone; it must be the deletion of a single parent.
   */
  moves?: boolean;
}

export interface ModelSettings {
  /** Mongoose paths without the base fields. */
  fields: SchemaDefinition;
  /** Host applications may write undeclared fields; by default an unknown field is an error. */
  openFields?: boolean;
  /** Default true; false for relations and tokens, which are removed at once (decision R2). */
  softDelete?: boolean;
  /** What the records are deleted and restored with (decision R2). */
  cascades?: readonly Cascade[];
  /** Text fields whose words `$search` finds. Every write of them also writes what finds the record. */
  searched?: readonly string[];
  /** How changes of its records are told to those who follow the event log; default: not at all. */
  traced?: Traced | undefined;
  /** Where its records name people, by path, and what becomes of that (docs/personal-data.md). */
  people?: Readonly<Record<string, Naming>>;
  /** Records that go for good with one of another collection, besides `cascades`. */
  goesWith?: readonly Cascade[];
  /** The purposes of the files of its records, which go for good with them. */
  files?: readonly string[];
  /** What distinguishes its deleted records from others that have a `deletedAt`. */
  deletedRecords?: Readonly<Record<string, unknown>>;
  indexes: IndexDefinition[];
  /** A date field: its record is removed, not soft-deleted, after that time. */
  expires?: string;
}

export interface ModelDefinition<R extends BaseRecord> extends Required<Omit<ModelSettings, 'expires' | 'traced'>> {
  collectionName: string;
  traced: Traced | undefined;
  expires: string | undefined;
  /** Only carries the record type. */
  readonly record?: R;
}

/** A Mongoose model of live records; `.setOptions({ deleted: 'include' | 'only' })` on a query shows the others. */
export interface Model<R extends BaseRecord> extends mongoose.Model<R> {
  /**
   * Restores a soft-deleted record.
   * @returns the record, or undefined when there is nothing to restore
   * @throws a duplicate key error (`isDuplicateKey`) when a unique value has been taken meanwhile
   */
  restore(idOrFilter: string | mongoose.QueryFilter<R>): Promise<R | undefined>;
}

/**
 * Describes a collection of this name; `storage.model(definition)` makes it usable (decision R1).
 * @throws TypeError for a name in `cleared` or `texts` that is none of the fields: what it stands for would stay
 */
export function defineModel<R extends BaseRecord>(
  collectionName: string,
  settings: ModelSettings & { cascades?: readonly Cascade<keyof R & string>[] },
): ModelDefinition<R> {
  const { softDelete = true, deletedRecords = {} } = settings;
  if (!settings.openFields) expectCleared(collectionName, settings);
  const indexes = [
    ...settings.indexes,
    ...(settings.traced ? [WAITING_INDEX] : []),
    ...(softDelete ? [deletedIndex(deletedRecords)] : []),
  ];
  return { ...DEFAULTS, ...settings, indexes, collectionName };
}

function expectCleared(collectionName: string, { fields, people = {} }: ModelSettings): void {
  const firstOf = (path: string) => path.split('.', 1)[0];
  const known = new Set(Object.keys(fields).map(firstOf));
  const cleared = Object.values(people).flatMap((naming) => clearedBy(naming, true));
  const unknown = cleared.find(([path]) => !known.has(firstOf(path)));
  if (unknown) throw new TypeError(`${collectionName}: there is no field "${unknown[0]}" to clear`);
}

const DEFAULTS = {
  openFields: false,
  softDelete: true,
  cascades: [],
  searched: [],
  people: {},
  goesWith: [],
  files: [],
  deletedRecords: {},
  expires: undefined,
  traced: undefined,
};

/** Live records cost it nothing. */
function deletedIndex(deletedRecords: object): IndexDefinition {
  return {
    keys: { deletedAt: 1 },
    where: { deletedAt: { $gt: new Date(0) }, ...deletedRecords },
    deletedToo: true,
    serves: 'what was deleted long ago',
  };
}

const WAITING_INDEX: IndexDefinition = {
  keys: { [`${TRACE}.since`]: 1 },
  where: { [`${TRACE}.since`]: { $exists: true } },
  deletedToo: true,
  serves: 'changes that stand in no log yet',
};

/** The Mongoose model of a definition, for one connection and clock. */
export function compileModel<R extends BaseRecord>(
  connection: Connection,
  { collectionName, fields, openFields, softDelete, searched, traced }: ModelDefinition<R>,
  {
    clock,
    maxTimeMs,
    onWrite,
    listeners,
  }: {
    clock: Clock;
    maxTimeMs: number;
    onWrite: (collectionName: string) => void;
    listeners: readonly OperationListener[];
  },
): Model<R> {
  const schema: Schema = new connection.base.Schema(
    {
      _id: { type: String, default: () => newId(clock) },
      ...fields,
      ...(softDelete ? { deletedAt: { type: Date, default: null }, [PURGING]: { type: Boolean, select: false } } : {}),
    },
    {
      collection: collectionName,
      timestamps: { currentTime: () => clock.now() },
      strict: openFields ? false : 'throw',
      // By default Mongoose drops an unknown path from a filter, which would then match everything.
      strictQuery: openFields ? false : 'throw',
      versionKey: false,
      id: false,
      minimize: false,
    },
  );
  hideDeletedInAggregations(schema, softDelete);
  if (softDelete) softDeletion(schema, clock);
  interceptQueries(schema, softDelete ? (query) => hideDeleted(query, clock) : () => undefined);
  const model = connection.model(collectionName, schema);
  if (traced) keepTraces(model.collection, clock, traced);
  if (searched.length > 0) keepSearch(model.collection, searched);
  guardOperations(model.collection, maxTimeMs, { onWrite: () => onWrite(collectionName), listeners });
  return model as unknown as Model<R>;
}
