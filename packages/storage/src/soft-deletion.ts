import mongoose, { type AnyBulkWriteOperation, type MongooseBulkWriteOptions, type Schema } from 'mongoose';
import type { Clock } from './clock.js';
import type { OpenQuery } from './queries.js';
import { joiningLive, withoutDeleted } from './soft-deletion-pipelines.js';

/** Which soft-deleted records an operation sees: also them (`include`), or them alone (`only`). */
export type Deleted = 'include' | 'only';

declare module 'mongoose' {
  // oxlint-disable-next-line no-unused-vars -- merged declarations must name the same parameters
  interface QueryOptions<DocType = unknown> {
    /** Sees soft-deleted records: also them, or them alone. Without it an operation sees live records only. */
    deleted?: Deleted;
    /** Removes for real what a delete would only mark. */
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

/** Turns a query on a soft-deleting collection into one over live records, and a delete into the mark `deletedAt`. */
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

/** Adds the condition beside the caller's own, which may be one on `deletedAt` too. */
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

/** Lets the aggregations of a schema see live records only: its own, where they are deleted softly, and those they join. */
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

/** Soft deletion of documents and in bulk writes, and the way back. */
export function softDeletion(schema: Schema, clock: Clock): void {
  // A document that was deleted since it was loaded is not saved over.
  schema.pre('save', function hide() {
    if (!this.isNew) this.$where = { ...this.$where, deletedAt: null };
  });
  schema.method('deleteOne', function deleteOne(options?: object) {
    return (this.constructor as typeof mongoose.Model).deleteOne({ _id: this._id }, options);
  });
  schema.static('restore', async function restore(idOrFilter: string | Record<string, unknown>) {
    const filter = typeof idOrFilter === 'string' ? { _id: idOrFilter } : idOrFilter;
    const options = { deleted: 'only', returnDocument: 'after', lean: true } as const;
    return (await this.findOneAndUpdate(filter, { $set: { deletedAt: null } }, options)) ?? undefined;
  });
  schema.static('bulkWrite', function bulkWrite(operations: AnyBulkWriteOperation[], options?: MongooseBulkWriteOptions) {
    const hidden = operations.map((operation) => hideInOperation(operation, clock.now()));
    return mongoose.Model.bulkWrite.call(this, hidden, options ?? {});
  });
}

/** One operation of a bulk write over live records: `{ updateOne: { filter, … } }`; deletes become marks, counted as updates. */
function hideInOperation(operation: AnyBulkWriteOperation, deletedAt: Date): AnyBulkWriteOperation {
  const [name, body] = Object.entries(operation)[0] as [string, { filter?: Record<string, unknown> }];
  if (!body.filter) return operation;
  const filter = { ...body.filter };
  narrow(filter, null);
  const mark = marking[name];
  const hidden = mark ? { [mark]: { ...body, filter, update: { $set: { deletedAt } } } } : { [name]: { ...body, filter } };
  return hidden as AnyBulkWriteOperation;
}
