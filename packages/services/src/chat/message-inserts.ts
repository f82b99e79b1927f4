import { isDuplicateKey, type Model } from '@tandem/storage';
import type { mongo } from 'mongoose';
import type { MessageRecord } from './message.model.js';

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
  let singles: Single[] = [];

  const insertOne = (record: object): Promise<Inserted> =>
    collection.insertOne(record).then(
      () => ({ stored: 1 }),
      (error: unknown) => ({ stored: 0, refusedBy: refusedBy(error) }),
    );

  async function insertSingles(): Promise<void> {
    const all = singles;
    singles = [];
    const [first] = all;
    if (all.length === 1 && first) return insertOne(first.record).then(first.settle, first.reject);
    const records = all.map(({ record }) => record);
    const writing = collection.insertMany(records, { ordered: false }).then(() => new Map<number, Error>(), errorsOf);
    const errors = await writing.catch((error: unknown) => new Map(all.map((_, at) => [at, error])));
    for (const [at, { settle, reject }] of all.entries()) {
      const error = errors.get(at);
      try {
        settle(error === undefined ? { stored: 1 } : { stored: 0, refusedBy: refusedBy(error) });
      } catch {
        reject(error);
      }
    }
  }

  return {
    /** Inserts a record, maybe with those of other channels. @throws what the store throws */
    one: (record: object): Promise<Inserted> =>
      new Promise((settle, reject) => {
        singles.push({ record, settle, reject });
        // once everything has been read that has arrived by now
        if (singles.length === 1) setImmediate(() => void insertSingles());
      }),

    /** Inserts records of one channel in order, up to the first that is refused. @throws what the store throws */
    async inOrder(records: object[]): Promise<Inserted> {
      const errors = await collection.insertMany(records, { ordered: true }).then(() => undefined, errorsOf);
      for (const [stored, error] of errors ?? []) return { stored, refusedBy: refusedBy(error) };
      return { stored: records.length };
    },
  };
}
