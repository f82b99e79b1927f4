import { isDuplicateKey, isStoreUnavailable, type Model } from '@tandem/storage';
import type { mongo } from 'mongoose';
import type { MessageRecord } from './message.model.js';

/** Maximum number of channels whose records one command inserts. */
const TOGETHER_MAX = 100;

/** How many of some records are stored, from the first, and which index refused the next one. */
export interface Inserted {
  stored: number;
  refusedBy?: string;
}

interface Single {
  record: object;
  settle(inserted: Inserted): void;
  reject(error: unknown): void;
}

/** Why records of a write were not stored, by their places. @throws the failure of the whole write, or of what was stored to last */
function errorsOf(error: unknown): Map<number, Error> {
  const { writeErrors } = error as Partial<mongo.MongoBulkWriteError>;
  const errors = [writeErrors ?? []].flat();
  if (errors.length === 0) throw error;
  return new Map(errors.map(({ index, errmsg, code }) => [index, Object.assign(new Error(errmsg), { code })]));
}

/** @throws the error, unless a unique index has refused the record */
function refusedBy(error: unknown): string {
  const duplicate = isDuplicateKey(error);
  if (!duplicate) throw error;
  return duplicate.index ?? '';
}

/**
 * Inserts records of channels. Single ones that come in the same turn of the event loop, each of another channel, are inserted by
 * one command: a busy server posts to many channels at once, and a command costs more than what is in it.
 */
export function createMessageInserts({ collection }: Model<MessageRecord>) {
  const singles: Single[] = [];

  const insertOne = (record: object): Promise<Inserted> =>
    collection.insertOne(record).then(
      () => ({ stored: 1 }),
      (error: unknown) => ({ stored: 0, refusedBy: refusedBy(error) }),
    );

  async function insertTogether(all: readonly Single[]): Promise<void> {
    const records = all.map(({ record }) => record);
    const errors = await collection.insertMany(records, { ordered: false }).then(() => undefined, errorsOf);
    for (const [at, { settle, reject }] of all.entries()) {
      const error = errors?.get(at);
      try {
        settle(error === undefined ? { stored: 1 } : { stored: 0, refusedBy: refusedBy(error) });
      } catch {
        reject(error);
      }
    }
  }

  function insertEach(all: readonly Single[]): void {
    for (const { record, settle, reject } of all) insertOne(record).then(settle, reject);
  }

  function insertSingles(all: readonly Single[]): void {
    if (all.length === 1) insertEach(all);
    else
      insertTogether(all).catch((error: unknown) => {
        // one that cannot be written at all holds up no other
        if (!isStoreUnavailable(error)) insertEach(all);
        else for (const { reject } of all) reject(error);
      });
  }

  /** Once everything has been read that has arrived by now. */
  const collect = () =>
    setImmediate(() => {
      while (singles.length > 0) insertSingles(singles.splice(0, TOGETHER_MAX));
    });

  return {
    /** Inserts a record, maybe with those of other channels. @throws what the store throws */
    one: (record: object): Promise<Inserted> =>
      new Promise((settle, reject) => {
        singles.push({ record, settle, reject });
        if (singles.length === 1) collect();
      }),

    /** Inserts records of one channel in order, up to the first that is refused. @throws what the store throws */
    async inOrder(records: object[]): Promise<Inserted> {
      const errors = await collection.insertMany(records, { ordered: true }).then(() => undefined, errorsOf);
      for (const [stored, error] of errors ?? []) return { stored, refusedBy: refusedBy(error) };
      return { stored: records.length };
    },
  };
}
