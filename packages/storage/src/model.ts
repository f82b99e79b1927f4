import type mongoose from 'mongoose';
import type { Connection, Schema, SchemaDefinition } from 'mongoose';
import type { Clock } from './clock.js';
import { newId } from './ids.js';
import { guardOperations, type OperationListener } from './operations.js';
import { interceptQueries } from './queries.js';
import { hideDeleted, hideDeletedInAggregations, softDeletion } from './soft-deletion.js';

/** What every record has (spec, "Common entity base"). */
export interface BaseRecord {
  _id: string;
  createdAt: Date;
  updatedAt: Date;
}

/** A record that is deleted softly: `deletedAt` is null, or missing where a host wrote it, while it lives. */
export interface Live extends BaseRecord {
  deletedAt: Date | null;
}

export interface IndexDefinition {
  keys: Record<string, 1 | -1>;
  unique?: boolean;
  /** A partial index: only records that match. On soft-deleting models it covers live records unless `deletedToo`. */
  where?: Record<string, unknown>;
  /** Covers soft-deleted records as well. */
  deletedToo?: boolean;
  /** The query that needs it, in words. */
  serves: string;
}

export interface ModelSettings {
  /** Mongoose paths without the base fields. */
  fields: SchemaDefinition;
  /** Hosts write fields beside the declared ones; else an unknown field is an error. */
  openFields?: boolean;
  /** Default true; false for relations and tokens, which are removed for real (decision R2). */
  softDelete?: boolean;
  indexes: IndexDefinition[];
  /** A date field: its record is removed for real when that time has passed. */
  expires?: string;
}

export interface ModelDefinition<R extends BaseRecord> extends Required<Omit<ModelSettings, 'expires'>> {
  collectionName: string;
  expires: string | undefined;
  /** Only for the type of the records. */
  readonly record?: R;
}

/** A Mongoose model over live records: add `.setOptions({ deleted: 'include' | 'only' })` to a query to see the others. */
export interface Model<R extends BaseRecord> extends mongoose.Model<R> {
  /**
   * Brings a soft-deleted record back.
   * @returns the record, or undefined when there is nothing to restore
   * @throws a duplicate key error (`isDuplicateKey`) when a unique value has been taken meanwhile
   */
  restore(idOrFilter: string | mongoose.QueryFilter<R>): Promise<R | undefined>;
}

/** Describes a collection; `storage.model(definition)` makes it usable. The name is the collection's (decision R1). */
export function defineModel<R extends BaseRecord>(collectionName: string, settings: ModelSettings): ModelDefinition<R> {
  return { openFields: false, softDelete: true, expires: undefined, ...settings, collectionName };
}

/** The Mongoose model of a definition, on one connection and one clock. */
export function compileModel<R extends BaseRecord>(
  connection: Connection,
  { collectionName, fields, openFields, softDelete }: ModelDefinition<R>,
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
      ...(softDelete ? { deletedAt: { type: Date, default: null } } : {}),
    },
    {
      collection: collectionName,
      timestamps: { currentTime: () => clock.now() },
      strict: openFields ? false : 'throw',
      // An unknown path in a filter must not match everything.
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
  guardOperations(model.collection, maxTimeMs, { onWrite: () => onWrite(collectionName), listeners });
  return model as unknown as Model<R>;
}
