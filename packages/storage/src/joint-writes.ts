import type { mongo } from 'mongoose';
import type { BaseRecord, ModelDefinition } from './model.js';

/** A write of one document, by the driver: nothing is cast. */
export type JointWrite = {
  /** Of the collection. */
  model: Pick<ModelDefinition<BaseRecord>, 'collectionName'>;
  /** What follows on it, with how many documents it touched; a write without it has to succeed. */
  settled?(result: PromiseSettledResult<number>): Promise<void> | void;
} & (
  | { insert: object }
  | { /** A filter: the document is removed for real. */ remove: object }
  | { /** Of the document that the filter finds; a pipeline. */ update: { filter: object; change: object[] } }
  | { /** Of the document with this id, which is made where there is none. */ put: { id: string; set: object } }
);

/** The write as the driver's command for many collections has it. */
function modelOf(write: JointWrite, namespace: string): mongo.AnyClientBulkWriteModel<mongo.Document> {
  if ('insert' in write) return { namespace, name: 'insertOne', document: write.insert };
  if ('remove' in write) return { namespace, name: 'deleteOne', filter: write.remove };
  if ('update' in write) return { namespace, name: 'updateOne', filter: write.update.filter, update: write.update.change };
  const { id, set } = write.put;
  return { namespace, name: 'updateOne', filter: { _id: id } as object, update: { $set: set }, upsert: true };
}

/** One write by a command of its own. @returns how many documents it touched */
async function writeOne(write: JointWrite, collection: mongo.Collection, maxTimeMS: number): Promise<number> {
  if ('remove' in write) return (await collection.deleteOne(write.remove, { maxTimeMS })).deletedCount;
  if ('update' in write)
    return (await collection.updateOne(write.update.filter, write.update.change, { maxTimeMS })).matchedCount;
  if ('put' in write) {
    const filter = { _id: write.put.id } as object;
    await collection.updateOne(filter, { $set: write.put.set }, { upsert: true, maxTimeMS });
  } else await collection.insertOne(write.insert, { maxTimeMS });
  return 1;
}

/**
 * How a server says that it does not have the command: it does not know it, it is MongoDB 8 at the feature compatibility version 7.0, or
 * MongoDB 7.0, which knows it in another form. A version does not tell the second, and none that changes between two checks.
 */
const REFUSALS = new Set<unknown>([59, 115, 40_415]);

interface Target {
  client: mongo.MongoClient;
  database: mongo.Db;
  maxTimeMS: number;
}

/** By one command. @throws what it fails with as a whole */
async function writeAtOnce({ client, database, maxTimeMS }: Target, writes: readonly JointWrite[]) {
  const models = writes.map((write) => modelOf(write, `${database.databaseName}.${write.model.collectionName}`));
  const { errors, result } = await client.bulkWrite(models, { ordered: false, verboseResults: true, maxTimeMS }).then(
    (done) => ({ errors: undefined, result: done }),
    (error: unknown) => {
      const { writeErrors, partialResult, writeConcernErrors } = error as Partial<mongo.MongoClientBulkWriteError>;
      const [concern] = writeConcernErrors ?? [];
      if (concern) throw Object.assign(new Error(String(concern['message'])), { code: concern['code'] as unknown });
      if (!writeErrors || writeErrors.size === 0) throw error;
      return { errors: writeErrors, result: partialResult };
    },
  );
  return writes.map((write, at): PromiseSettledResult<number> => {
    const reason = errors?.get(at);
    if (reason) return { status: 'rejected', reason: Object.assign(new Error(reason.message), { code: reason.code }) };
    const updated = 'update' in write ? result?.updateResults?.get(at)?.matchedCount : undefined;
    return { status: 'fulfilled', value: result?.deleteResults?.get(at)?.deletedCount ?? updated ?? 1 };
  });
}

function isRefusal(result: PromiseSettledResult<number>): boolean {
  return result.status === 'rejected' && REFUSALS.has((result.reason as { code?: unknown }).code);
}

/** By a command each. */
function writeEach({ database, maxTimeMS }: Target, writes: readonly JointWrite[]): Promise<PromiseSettledResult<number>[]> {
  return Promise.allSettled(writes.map((write) => writeOne(write, database.collection(write.model.collectionName), maxTimeMS)));
}

/**
 * Several writes that do not need each other, to different collections: by one command, which costs half of what one each cost, where the
 * servers have it. When the process dies, any of them may have been done.
 * @param hasCommand asked each time, since servers change; after one refusal it is not asked again
 */
export function createJointWrites(target: () => Target, onWrite: (collectionName: string) => void, hasCommand: () => boolean) {
  let wasRefused = false;

  async function run(writes: readonly JointWrite[]): Promise<PromiseSettledResult<number>[]> {
    if (wasRefused || writes.length === 1 || !hasCommand()) return writeEach(target(), writes);
    const results = await writeAtOnce(target(), writes).catch((error: unknown) => {
      const { code } = (error as { cause?: { code?: unknown } }).cause ?? {};
      if (!REFUSALS.has(code)) throw error;
      return writes.map((): PromiseSettledResult<number> => ({ status: 'rejected', reason: { code } }));
    });
    // of several shards one may have refused its part alone: only what was refused is written again
    const refused = results.flatMap((result, at) => (isRefusal(result) ? [at] : []));
    if (refused.length === 0) return results;
    wasRefused = true;
    const again = await writeEach(target(), refused.map((at) => writes[at] as JointWrite)); // prettier-ignore
    for (const [position, at] of refused.entries()) results[at] = again[position] as PromiseSettledResult<number>;
    return results;
  }

  return async (writes: readonly JointWrite[]): Promise<void> => {
    const failAll = (reason: unknown) => writes.map((): PromiseSettledResult<number> => ({ status: 'rejected', reason }));
    const results = await run(writes).catch(failAll);
    for (const { model } of writes) onWrite(model.collectionName);
    await Promise.all(
      writes.map(async ({ settled }, at) => {
        const result = results[at] as PromiseSettledResult<number>;
        if (settled) await settled(result);
        else if (result.status === 'rejected') throw result.reason;
      }),
    );
  };
}
