import type { mongo } from 'mongoose';
import type { BaseRecord, ModelDefinition } from './model.js';
import { lacksSearch, SEARCH, searchOf } from './search.js';

const BATCH = 500;

/**
 * Completes the records that lack what finds them, in batches; each is written only if its searched fields are still
 * those that were read, as a write of them brings its own. Stops anywhere, and begins again where it stopped.
 * @returns how many were completed
 */
export async function fillSearch(database: mongo.Db, { collectionName, searched }: ModelDefinition<BaseRecord>): Promise<number> {
  if (searched.length === 0) return 0;
  const collection = database.collection<{ _id: string } & Record<string, unknown>>(collectionName);
  const projection = Object.fromEntries(searched.map((field) => [field, 1 as const]));
  let filled = 0;
  for (let after: object = {}; ;) {
    const lacking = { ...after, ...lacksSearch(searched) } as object;
    const records = await collection.find(lacking, { projection, sort: { _id: 1 }, limit: BATCH }).toArray();
    if (records.length === 0) return filled;
    const operations = records.map((record) => {
      const unchanged = Object.fromEntries(searched.map((field) => [field, { $eq: record[field] ?? null }]));
      const update = { $set: { [SEARCH]: searchOf(record, searched) } };
      return { updateOne: { filter: { _id: record._id, ...unchanged }, update } };
    });
    filled += (await collection.bulkWrite(operations, { ordered: false })).modifiedCount;
    after = { _id: { $gt: records.at(-1)?._id } };
  }
}
