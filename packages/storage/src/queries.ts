import mongoose, { type Query, type Schema } from 'mongoose';

/** A Mongoose query and its parts. */
export interface OpenQuery extends Query<unknown, unknown> {
  op: string;
  _conditions: Record<string, unknown>;
  options: mongoose.QueryOptions;
}

/**
 * Runs `prepare` on every query of a schema before it executes. Mongoose's hooks cost time on every read, miss some
 * operations and cannot turn one operation into another.
 */
export function interceptQueries(schema: Schema, prepare: (query: OpenQuery) => void): void {
  const { exec, cursor } = mongoose.Query.prototype;
  // Query helpers take precedence over methods of the same name.
  Object.assign(schema.query, {
    exec(this: OpenQuery): Promise<unknown> {
      refuseIdsOfTheStore(this);
      prepare(this);
      return exec.call(this);
    },
    cursor(this: OpenQuery, options?: Parameters<typeof cursor>[0]) {
      prepare(this);
      return cursor.call(this, options);
    },
  });
  refuseObjectsAsIds(schema);
}

/** Refuses upserts for which the store would generate the id: it would be an ObjectId. */
function refuseIdsOfTheStore(query: OpenQuery): void {
  if (!query.options.upsert || '_id' in query._conditions) return;
  if (query.op === 'replaceOne' || query.op === 'findOneAndReplace' || Array.isArray(query.getUpdate())) {
    throw new Error('An upsert that replaces a record, or is a pipeline, needs the _id in its filter');
  }
}

/** Makes an id such as `{ "$ne": null }` a value of the wrong type (CastError), not a condition. */
function refuseObjectsAsIds(schema: Schema): void {
  for (const name of ['findById', 'findByIdAndUpdate', 'findByIdAndDelete'] as const) {
    schema.static(name, function byId(id: unknown, ...rest: unknown[]): unknown {
      return Reflect.apply(mongoose.Model[name], this, [typeof id === 'object' && id !== null ? { $eq: id } : id, ...rest]);
    });
  }
}
