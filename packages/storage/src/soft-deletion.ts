import mongoose, { type AnyBulkWriteOperation, type MongooseBulkWriteOptions, type Schema } from 'mongoose';
import type { Clock } from './clock.js';
import type { OpenQuery } from './queries.js';
import { PURGING } from './purges.js';
import { joiningLive, withoutDeleted } from './soft-deletion-pipelines.js';

/** Which soft-deleted records an operation sees: `include` adds them, `only` excludes the live ones. */
export type Deleted = 'include' | 'only';

declare module 'mongoose' {
  // oxlint-disable-next-line no-unused-vars -- merged declarations must name the same parameters
  interface QueryOptions<DocType = unknown> {
    /** Shows soft-deleted records too, or only them. By default an operation sees live records only. */
    deleted?: Deleted;
    /** Removes records instead of marking them as deleted. */
    hard?: boolean;
  }
  interface AggregateOptions {
    deleted?: Deleted;
  }
}

const marking: Record<string, string> = {
  deleteOne: 'updateOne',
  deleteMany: 'updateMany',
  findOneAndDelete: 'findOneAndUpdate',
};

/** Restricts a query on a soft-deleting collection to live records, and turns a delete into setting `deletedAt`. */
export function hideDeleted(query: OpenQuery, clock: Clock): void {
  const { deleted, hard } = query.options;
  if (deleted !== undefined || hard !== undefined) {
    query.options = { ...query.options };
    delete query.options.deleted;
    delete query.options.hard;
  }
  if (deleted !== 'include') narrow(query._conditions, deleted === 'only' ? { $ne: null } : null);
  if (query.op === 'estimatedDocumentCount') query.op = 'countDocuments';
  const mark = marking[query.op];
  if (mark && !hard) markDeleted(query, mark, clock.now());
}

/** Adds the condition to the caller's own, which may also be on `deletedAt`. */
function narrow(conditions: Record<string, unknown>, deletedAt: null | { $ne: null }): void {
  if (!('deletedAt' in conditions)) conditions['deletedAt'] = deletedAt;
  else conditions['$and'] = [...((conditions['$and'] as object[] | undefined) ?? []), { deletedAt }];
}

function markDeleted(query: OpenQuery, op: string, deletedAt: Date): void {
  query.op = op;
  query.setUpdate({ $set: { deletedAt } });
  if (op === 'findOneAndUpdate') return;
  query.transform((result: unknown) => {
    const { acknowledged, modifiedCount } = result as { acknowledged: boolean; modifiedCount: number };
    return { acknowledged, deletedCount: modifiedCount };
  });
}

/**
 * Restricts a schema's aggregations to live records, in joins and, for soft-deleting schemas, in its own collection.
 */
export function hideDeletedInAggregations(schema: Schema, softDelete: boolean): void {
  const done = new WeakSet<object>();
  schema.pre('aggregate', function hide() {
    if (done.has(this)) return;
    done.add(this);
    const { deleted } = this.options;
    delete this.options.deleted;
    if (deleted === 'include') return;
    const pipeline: unknown[] = this.pipeline();
    const stages = pipeline as Record<string, unknown>[];
    pipeline.splice(0, pipeline.length, ...(softDelete ? withoutDeleted(stages, deleted) : joiningLive(stages)));
  });
}

/** Soft deletion for documents and bulk writes, and restoring. */
export function softDeletion(schema: Schema, clock: Clock): void {
  // Saving must not overwrite a document that was deleted after it was loaded.
  schema.pre('save', function hide() {
    if (!this.isNew) this.$where = { ...this.$where, deletedAt: null };
  });
  schema.method('deleteOne', function deleteOne(options?: object) {
    return (this.constructor as typeof mongoose.Model).deleteOne({ _id: this._id }, options);
  });
  schema.static('restore', async function restore(idOrFilter: string | Record<string, unknown>) {
    const filter = { ...(typeof idOrFilter === 'string' ? { _id: idOrFilter } : idOrFilter), [PURGING]: null };
    const options = { deleted: 'only', returnDocument: 'after', lean: true } as const;
    return (await this.findOneAndUpdate(filter, { $set: { deletedAt: null } }, options)) ?? undefined;
  });
  schema.static('bulkWrite', function bulkWrite(operations: AnyBulkWriteOperation[], options?: MongooseBulkWriteOptions) {
    const hidden = operations.map((operation) => hideInOperation(operation, clock.now()));
    return mongoose.Model.bulkWrite.call(this, hidden, options ?? {});
  });
}

/**
 * One operation of a bulk write, restricted to live records: `{ updateOne: { filter, … } }`; deletes become updates and
 * are counted as such.
 */
function hideInOperation(operation: AnyBulkWriteOperation, deletedAt: Date): AnyBulkWriteOperation {
  const [name, body] = Object.entries(operation)[0] as [string, { filter?: Record<string, unknown> }];
  if (!body.filter) return operation;
  const filter = { ...body.filter };
  narrow(filter, null);
  const mark = marking[name];
  const hidden = mark ? { [mark]: { ...body, filter, update: { $set: { deletedAt } } } } : { [name]: { ...body, filter } };
  return hidden as AnyBulkWriteOperation;
}
