import mongoose from 'mongoose';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import { defineModel, newId, openStorage, type BaseRecord, type Live } from './index.js';

interface Note extends Live {
  text?: string;
  count?: number;
  tags?: Record<string, unknown>;
}
interface Notice extends Live {
  receiverId: string;
  [field: string]: unknown;
}
const NoteModel = defineModel<Note>('notes', { fields: { text: String, count: Number, tags: Object }, indexes: [] });
const NoticeModel = defineModel<Notice>('notices', { fields: { receiverId: String }, openFields: true, indexes: [] });

const { storage, clock, uri } = await openTestStorage({ monitorCommands: true });
const notes = storage.model(NoteModel);
const notices = storage.model(NoticeModel);
afterEach(() => notes.deleteMany().setOptions({ deleted: 'include', hard: true }));
afterAll(() => storage.close());

describe('a record', () => {
  it('gets a UUID v7 of the clock as id, both times of the clock, and no version', async () => {
    const { _id } = await notes.create({ text: 'a' });
    expect(await notes.findById(_id).lean()).toEqual({
      _id,
      text: 'a',
      deletedAt: null,
      createdAt: clock.now(),
      updatedAt: clock.now(),
    });
    expect(_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    expect(Number.parseInt(_id.replaceAll('-', '').slice(0, 12), 16)).toBe(clock.now().getTime());
  });

  it('keeps createdAt and refreshes updatedAt in every kind of update', async () => {
    const createdAt = clock.now();
    const { _id } = await notes.create({ text: 'a' });
    const document = await notes.findById(_id).orFail();
    const updates = [
      () => notes.updateOne({ _id }, { text: 'b' }),
      () => notes.updateMany({ _id }, { $set: { text: 'c' } }),
      () => notes.findOneAndUpdate({ _id }, { $inc: { count: 1 } }),
      () => notes.bulkWrite([{ updateOne: { filter: { _id }, update: { text: 'd' } } }]),
      () => notes.updateOne({ _id }, [{ $set: { count: { $add: ['$count', 1] } } }], { updatePipeline: true }),
      () => document.set({ text: 'e' }).save(),
    ];
    for (const update of updates) {
      clock.advance(1000);
      await update();
      expect(await notes.findById(_id).lean()).toMatchObject({ createdAt, updatedAt: clock.now() });
    }
  });

  it('made by an upsert has an id and both times as well', async () => {
    await notes.updateOne({ text: 'u' }, { $inc: { count: 1 } }, { upsert: true });
    await notes.bulkWrite([{ updateOne: { filter: { text: 'v' }, update: { count: 1 }, upsert: true } }]);
    for (const note of await notes.find().lean()) {
      expect(note).toEqual({
        ...note,
        _id: expect.stringMatching(/-7/),
        count: 1,
        deletedAt: null,
        createdAt: clock.now(),
        updatedAt: clock.now(),
      });
    }
    expect(await notes.countDocuments()).toBe(2);
  });

  it('is never given an id by the store', async () => {
    await expect(notes.findOneAndReplace({ text: 'x' }, { text: 'x' }, { upsert: true })).rejects.toThrow('needs the _id');
    await expect(
      notes.updateOne({ text: 'x' }, [{ $set: { count: 1 } }], { upsert: true, updatePipeline: true }),
    ).rejects.toThrow('needs the _id');
    await notes.findOneAndReplace({ _id: 'x' }, { text: 'x' }, { upsert: true });
    expect(await notes.findById('x').lean()).toMatchObject({ text: 'x', deletedAt: null, createdAt: clock.now() });
  });

  it('keeps empty objects as written', async () => {
    const { _id } = await notes.create({ tags: {} });
    expect(await notes.findById(_id).lean()).toMatchObject({ tags: {} });
  });
});

describe('unknown fields', () => {
  it('are errors in filters, updates and new records of a closed model', async () => {
    const filter: object = { txt: 'a' };
    await expect(notes.find(filter)).rejects.toThrow('txt');
    await expect(notes.deleteMany(filter)).rejects.toThrow('txt');
    await expect(notes.updateOne({}, filter)).rejects.toThrow('txt');
    await expect(notes.create(filter)).rejects.toThrow('txt');
  });

  it('are kept and found in an open model', async () => {
    await notices.create({ receiverId: 'r', kind: 'order', data: { lines: [1, 2] } });
    expect(await notices.find({ kind: 'order', 'data.lines': 2 }).lean()).toMatchObject([{ data: { lines: [1, 2] } }]);
  });
});

it('an operator in place of an id is a value of the wrong type, not a condition', async () => {
  await notes.create({ text: 'a' });
  const operator: unknown = { $ne: null };
  await expect(notes.findById(operator)).rejects.toThrow(mongoose.Error.CastError);
  await expect(notes.findByIdAndUpdate(operator, { text: 'b' })).rejects.toThrow(mongoose.Error.CastError);
  await expect(notes.findByIdAndDelete(operator)).rejects.toThrow(mongoose.Error.CastError);
});

describe('ids', () => {
  it('made in one millisecond sort in creation order', () => {
    const ids = Array.from({ length: 2000 }, () => newId(clock));
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(2000);
  });
});

describe('a command to the store', () => {
  const sent: Record<string, unknown>[] = [];
  beforeAll(() => void notes.db.getClient().on('commandStarted', ({ command }) => sent.push(command as Record<string, unknown>)));

  it('is limited in time, and writes wait for the journal', async () => {
    sent.length = 0;
    const note = await notes.create({ text: 'a' });
    await note.set({ text: 'b' }).save();
    await notes.insertMany([{ text: 'c' }]);
    await notes.updateOne({ text: 'b' }, { count: 1 });
    await notes.findOneAndUpdate({ text: 'b' }, { count: 2 });
    await notes.bulkWrite([{ updateOne: { filter: { text: 'b' }, update: { count: 3 } } }]);
    await notes.findOneAndReplace({ text: 'c' }, { text: 'd' });
    await notes.deleteMany({ text: 'd' });
    await notes.deleteMany({ text: 'd' }).setOptions({ hard: true });
    await notes.find().cursor().next();
    await Promise.all([
      notes.find(),
      notes.findOne(),
      notes.countDocuments(),
      notes.distinct('text'),
      notes.aggregate([{ $count: 'n' }]),
    ]);
    expect(sent).toHaveLength(15);
    for (const command of sent) expect(command).toMatchObject({ maxTimeMS: 10_000 });
    const isWrite = (command: object) => ['insert', 'update', 'delete', 'findAndModify'].includes(Object.keys(command)[0] ?? '');
    for (const command of sent.filter(isWrite)) {
      // `w` is set for the embedded engine
      expect(command).toMatchObject({ writeConcern: { w: 1, j: true, wtimeout: 10_000 } });
    }
  });
});

it.each(['cleared', 'texts'])('a model that would clear a field which it does not have is refused (%s)', (key) => {
  const define = (path: string, openFields = false) =>
    defineModel<Notice>('notices', {
      fields: { receiverId: String, 'place.street': String, house: { number: Number } },
      openFields,
      indexes: [],
      people: { receiverId: { erased: 'keep', [key]: { [path]: '' } } },
    });
  expect(() => define('text')).toThrow(new TypeError('notices: there is no field "text" to clear'));
  for (const path of ['receiverId', 'place.street', 'place', 'house.number']) expect(() => define(path)).not.toThrow();
  expect(() => define('text', true)).not.toThrow();
});

describe('a storage', () => {
  it("does not affect the host's own mongoose, and finds its models by their definition", async () => {
    const other = await openStorage({ uri });
    expect(storage.model(NoteModel)).toBe(notes);
    expect(other.model(NoteModel)).not.toBe(notes);
    expect(mongoose.modelNames()).toEqual([]);
    const twin = defineModel<BaseRecord>('notes', { fields: {}, indexes: [] });
    expect(() => other.model(twin)).toThrow('notes is defined twice');
    await other.close();
  });

  it('has all its writes wait for the journal and, in a replica set, for a majority', async () => {
    const other = await openStorage({ uri: uri.replace(/([?&])w=1&?/, '$1') });
    const { writeConcern } = other.model(NoteModel).db.getClient().options;
    expect(writeConcern).toMatchObject({ w: 'majority', journal: true, wtimeoutMS: 10_000 });
    await other.close();
  });

  it('uses the database that the URI names, else tandem', async () => {
    const engine = process.env['TANDEM_TEST_MONGODB_URI'] ?? '';
    const unnamed = await openStorage({ uri: engine.replace(/^([^/]+\/\/[^/?]+)\/?[^?]*/, '$1/') });
    expect(unnamed.model(NoteModel).db.name).toBe('tandem');
    expect(`/${notes.db.name}`).toBe(new URL(uri).pathname);
    await unnamed.close();
  });
});
