import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import { defineModel, isDuplicateKey, type BaseRecord, type Live } from './index.js';

interface Product extends Live {
  name: string;
  price: number;
}
interface Like extends BaseRecord {
  productId: string;
}
const ProductModel = defineModel<Product>('products', {
  fields: { name: { type: String, required: true }, price: { type: Number, default: 0 } },
  indexes: [{ keys: { name: 1 }, unique: true, serves: 'a product by its name' }],
});
const LikeModel = defineModel<Like>('productLikes', {
  fields: { productId: String },
  softDelete: false,
  indexes: [{ keys: { productId: 1 }, unique: true, serves: 'the likes of a product' }],
});

const { storage, clock } = await openTestStorage();
const products = storage.model(ProductModel);
const likes = storage.model(LikeModel);

beforeAll(() => storage.ensureIndexes());
afterAll(() => storage.close());
/** Two products, of which `gone` is deleted. */
let live: Product;
let gone: Product;
beforeEach(async () => {
  await products.deleteMany().setOptions({ deleted: 'include', hard: true });
  await likes.deleteMany();
  live = (await products.create({ name: 'live' })).toObject();
  gone = (await products.create({ name: 'gone', price: 5 })).toObject();
  await products.deleteOne({ name: 'gone' });
});

/** The stored records, deleted ones included. */
async function stored(): Promise<Record<string, boolean>> {
  const all = await products.collection.find().sort({ name: 1 }).toArray();
  return Object.fromEntries(all.map(({ name, deletedAt }) => [String(name), deletedAt !== null]));
}

describe('a deleted record', () => {
  it('is marked with the clock’s time, refreshes updatedAt, and stays in the store', async () => {
    clock.advance(1000);
    await products.deleteOne({ _id: live._id });
    const record = await products.findById(live._id).setOptions({ deleted: 'only' }).lean();
    expect(record).toMatchObject({ name: 'live', deletedAt: clock.now(), updatedAt: clock.now(), createdAt: live.createdAt });
  });

  it('is not returned by any kind of read', async () => {
    expect((await products.find().lean()).map(({ name }) => name)).toEqual(['live']);
    expect(await products.findOne({ name: 'gone' })).toBeNull();
    expect(await products.findById(gone._id)).toBeNull();
    expect(await products.exists({ name: 'gone' })).toBeNull();
    expect(await products.countDocuments()).toBe(1);
    expect(await products.estimatedDocumentCount()).toBe(1);
    expect(await products.distinct('name')).toEqual(['live']);
    const walked: string[] = [];
    for await (const { name } of products.find().lean().cursor()) walked.push(name);
    for await (const { name } of products.find().lean()) walked.push(name);
    expect(walked).toEqual(['live', 'live']);
  });

  it('is not changed by any kind of write', async () => {
    const filter = { name: 'gone' };
    expect(await products.updateOne(filter, { price: 9 })).toMatchObject({ matchedCount: 0 });
    expect(await products.updateMany(filter, { price: 9 })).toMatchObject({ matchedCount: 0 });
    expect(await products.replaceOne(filter, { name: 'gone', price: 9 })).toMatchObject({ matchedCount: 0 });
    expect(await products.findOneAndUpdate(filter, { price: 9 })).toBeNull();
    expect(await products.findByIdAndUpdate(gone._id, { price: 9 })).toBeNull();
    expect(await products.findOneAndReplace(filter, { name: 'gone' })).toBeNull();
    expect(await products.findOneAndDelete(filter)).toBeNull();
    expect(await products.deleteOne(filter)).toMatchObject({ deletedCount: 0 });
    expect(await products.deleteMany(filter)).toMatchObject({ deletedCount: 0 });
    await products.bulkWrite([
      { updateOne: { filter, update: { price: 9 } } },
      { updateMany: { filter, update: { price: 9 } } },
      { replaceOne: { filter, replacement: { name: 'gone', price: 9 } as Product } },
    ]);
    expect(await products.findById(gone._id).setOptions({ deleted: 'include' }).lean()).toMatchObject({ price: 5 });
  });

  it('is not overwritten by a document that was loaded before', async () => {
    const document = await products.findById(live._id).orFail();
    await products.deleteOne({ _id: live._id });
    document.price = 7;
    await expect(document.save()).rejects.toMatchObject({ name: 'DocumentNotFoundError' });
  });

  it('is seen on request, beside the live ones or alone', async () => {
    expect(await products.countDocuments().setOptions({ deleted: 'include' })).toBe(2);
    expect(await products.find({}, 'name', { deleted: 'only' }).lean()).toEqual([{ _id: gone._id, name: 'gone' }]);
    expect(await products.findOneAndUpdate({ name: 'gone' }, { price: 6 }, { deleted: 'only' })).toMatchObject({ price: 5 });
  });
});

describe('a condition of the caller on deletedAt', () => {
  it('is combined with the built-in one, not overwritten', async () => {
    expect(await products.countDocuments({ deletedAt: { $ne: null } })).toBe(0);
    expect(await products.countDocuments({ deletedAt: { $ne: null }, $and: [{ name: 'gone' }] })).toBe(0);
    expect(await products.countDocuments({ deletedAt: { $lte: clock.now() } }).setOptions({ deleted: 'only' })).toBe(1);
    expect(await products.updateMany({ deletedAt: { $ne: null } }, { price: 9 })).toMatchObject({ matchedCount: 0 });
  });
});

describe('each way to delete', () => {
  const ways: Record<string, () => Promise<unknown>> = {
    deleteOne: async () => products.deleteOne({ name: 'live' }),
    deleteMany: async () => products.deleteMany({ name: 'live' }),
    findOneAndDelete: async () => products.findOneAndDelete({ name: 'live' }),
    findByIdAndDelete: async () => products.findByIdAndDelete(live._id),
    'document.deleteOne': async () => (await products.findById(live._id).orFail()).deleteOne(),
    'bulkWrite deleteOne': async () => products.bulkWrite([{ deleteOne: { filter: { name: 'live' } } }]),
    'bulkWrite deleteMany': async () => products.bulkWrite([{ deleteMany: { filter: { name: 'live' } } }]),
  };
  it.each(Object.entries(ways))('%s marks the record', async (_name, remove) => {
    await remove();
    expect(await stored()).toEqual({ gone: true, live: true });
  });

  it('of one document leaves the others', async () => {
    await products.create({ name: 'another' });
    await (await products.findOne({ name: 'another' }).orFail()).deleteOne();
    expect(await stored()).toEqual({ another: true, gone: true, live: false });
  });

  it('returns what a real delete does', async () => {
    expect(await products.findOneAndDelete({ name: 'live' }).lean()).toMatchObject({ name: 'live' });
    expect(await products.deleteMany()).toEqual({ acknowledged: true, deletedCount: 0 });
    await products.create([{ name: 'a' }, { name: 'b' }]);
    expect(await products.deleteMany()).toEqual({ acknowledged: true, deletedCount: 2 });
  });

  it('removes the record on request', async () => {
    await products.deleteOne({ name: 'live' }).setOptions({ hard: true });
    expect(await stored()).toEqual({ gone: true });
    await products.deleteMany().setOptions({ hard: true, deleted: 'only' });
    expect(await stored()).toEqual({});
  });
});

describe('restoring', () => {
  it('restores the record, by id or by filter, and returns it', async () => {
    expect(await products.restore(gone._id)).toMatchObject({ _id: gone._id, name: 'gone', deletedAt: null });
    expect(await products.countDocuments()).toBe(2);
    await products.deleteMany();
    expect(await products.restore({ name: 'gone' })).toMatchObject({ name: 'gone' });
  });

  it('returns undefined when there is nothing to restore', async () => {
    expect(await products.restore(live._id)).toBeUndefined();
    expect(await products.restore('no-such-id')).toBeUndefined();
  });

  it('fails with a duplicate key when a unique value has been taken meanwhile', async () => {
    await products.create({ name: 'gone' });
    const failure = await products.restore(gone._id).catch((error: unknown) => error);
    expect(isDuplicateKey(failure)).toEqual({ index: 'name_1_unique', fields: ['name'] });
  });

  it('restores many by an update, as children come back with their parent', async () => {
    await products.deleteMany();
    await products.updateMany({}, { deletedAt: null }).setOptions({ deleted: 'only' });
    expect(await stored()).toEqual({ gone: false, live: false });
  });
});

describe('records without deletedAt', () => {
  it('count as live, and their unique values too', async () => {
    await products.collection.insertOne({ _id: 'by-host' as never, name: 'by host' });
    expect(await products.findById('by-host').lean()).toMatchObject({ name: 'by host' });
    await expect(products.create({ name: 'by host' })).rejects.toSatisfy((error) => isDuplicateKey(error) !== false);
  });

  it('of a model without soft deletion are removed', async () => {
    const like = await likes.create({ productId: live._id });
    expect(like.toObject()).not.toHaveProperty('deletedAt');
    await likes.deleteOne({ productId: live._id });
    expect(await likes.collection.countDocuments()).toBe(0);
  });
});

describe('an upsert', () => {
  it('creates a separate live record beside a deleted one', async () => {
    await products.updateOne({ name: 'gone' }, { price: 1 }, { upsert: true });
    const [made] = await products.find({ name: 'gone' }).lean();
    expect(made).toMatchObject({ price: 1, deletedAt: null, createdAt: clock.now() });
    expect(made?._id).not.toBe(gone._id);
  });
});
