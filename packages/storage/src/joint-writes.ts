import type { mongo } from 'mongoose';
import type { BaseRecord, ModelDefinition } from './model.js';

/** A write of one document, passed to the driver without casting. */
export type JointWrite = {
  /** Names the collection. */
  model: Pick<ModelDefinition<BaseRecord>, 'collectionName'>;
  /** Called with the outcome and the number of documents affected; a write without it must succeed. */
  settled?(result: PromiseSettledResult<number>): Promise<void> | void;
} & (
  | { insert: object }
  | { /** A filter: the document is removed for real. */ remove: object }
  | { /** Of the document that the filter finds; a pipeline. */ update: { filter: object; change: object[] } }
  | { /** Of the document with this id, which is made where there is none. */ put: { id: string; set: object } }
);

/** The write in the form of the driver's command for many collections. */
function modelOf(write: JointWrite, namespace: string): mongo.AnyClientBulkWriteModel<mongo.Document> {
  if ('insert' in write) return { namespace, name: 'insertOne', document: write.insert };
  if ('remove' in write) return { namespace, name: 'deleteOne', filter: write.remove };
  if ('update' in write) return { namespace, name: 'updateOne', filter: write.update.filter, update: write.update.change };
  const { id, set } = write.put;
  return { namespace, name: 'updateOne', filter: { _id: id } as object, update: { $set: set }, upsert: true };
}

/** One write as a command of its own. @returns the number of documents affected */
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
 * How a server refuses the command: it does not know it, it is MongoDB 8 with feature compatibility version 7.0, or it
 * is MongoDB 7.0, which knows another form. The version alone does not reveal the second, and may change between two
 * checks.
 */
const REFUSALS = new Set<unknown>([59, 115, 40_415]);

interface Target {
  client: mongo.MongoClient;
  database: mongo.Db;
  maxTimeMS: number;
}

/** Uses one command. @throws the failure of the whole command */
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

/** Uses one command per write. */
function writeEach({ database, maxTimeMS }: Target, writes: readonly JointWrite[]): Promise<PromiseSettledResult<number>[]> {
  return Promise.allSettled(writes.map((write) => writeOne(write, database.collection(write.model.collectionName), maxTimeMS)));
}

/**
 * Independent writes to different collections in one command, where the servers support it: half the cost of separate
 * commands. If the process dies, any subset may have been done.
 * @param hasCommand called each time, since servers change; no longer called after a refusal
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
    // in a sharded cluster, one shard may refuse its part alone: repeat only what was refused
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
