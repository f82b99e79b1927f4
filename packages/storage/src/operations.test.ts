import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import { defineModel, type BaseRecord, type Storage } from './index.js';

const pens = defineModel<BaseRecord & { color: string }>('pens', {
  fields: { color: { type: String, required: true } },
  indexes: [],
});

let storage: Storage;
beforeAll(async () => {
  ({ storage } = await openTestStorage());
});
afterAll(() => storage.close());

describe('operations', () => {
  it('are reported when they end, those of cursors after all rows, and failed ones as failed', async () => {
    const model = storage.model(pens);
    const told: [string, boolean][] = [];
    storage.onOperation((operation, milliseconds, hasFailed) => {
      expect(milliseconds).toBeGreaterThan(0);
      told.push([operation, hasFailed]);
    });
    const { _id } = await model.create({ color: 'red' });
    await model.find({ color: 'red' }).lean();
    await model.aggregate([{ $match: { color: 'red' } }]);
    await model.updateOne({ _id }, { color: 'blue' });
    await expect(model.collection.insertOne({ _id } as object)).rejects.toThrow('E11000');
    expect(told).toEqual([
      ['insertOne', false],
      ['find', false],
      ['aggregate', false],
      ['updateOne', false],
      ['insertOne', true],
    ]);
  });

  it('take connections, and return them', async () => {
    const model = storage.model(pens);
    const asking = Array.from({ length: 20 }, () => model.countDocuments().exec());
    await expect.poll(() => storage.connections().inUse, { interval: 0 }).toBeGreaterThan(0);
    await Promise.all(asking);
    expect(storage.connections()).toMatchObject({ inUse: 0, waiting: 0 });
    expect(storage.connections().open).toBeGreaterThan(0);
    expect(storage.connections().open).toBeLessThanOrEqual(8 + 2);
  });
});
