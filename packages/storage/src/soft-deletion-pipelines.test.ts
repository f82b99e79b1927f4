import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestStorage } from '../test/storage-fixture.js';
import { defineModel, type BaseRecord, type Live } from './index.js';

interface Place extends Live {
  name: string;
  parentId?: string;
}
interface Visit extends BaseRecord {
  placeId: string;
}
const PlaceModel = defineModel<Place>('places', {
  fields: { name: String, parentId: String, at: { type: Object } },
  indexes: [{ keys: { parentId: 1 }, serves: 'the children of a place' }],
});
const VisitModel = defineModel<Visit>('visits', {
  fields: { placeId: String },
  softDelete: false,
  indexes: [{ keys: { placeId: 1 }, serves: 'the visits of a place' }],
});

const { storage } = await openTestStorage();
const places = storage.model(PlaceModel);
const visits = storage.model(VisitModel);

beforeAll(async () => {
  await places.collection.createIndex({ at: '2dsphere' });
  await places.collection.createIndex({ name: 'text' });
  const at = { type: 'Point', coordinates: [1, 1] };
  await places.insertMany([
    { _id: 'town', name: 'town', at },
    { _id: 'house', name: 'house', parentId: 'town', at },
    { _id: 'ruin', name: 'ruin', parentId: 'town', at },
    { _id: 'cellar', name: 'cellar', parentId: 'ruin', at },
  ]);
  await places.deleteOne({ _id: 'ruin' });
  await visits.insertMany([{ placeId: 'house' }, { placeId: 'ruin' }]);
});
afterAll(() => storage.close());

const ids = (rows: { _id: unknown }[]) => rows.map(({ _id }) => String(_id)).sort();

describe('an aggregation', () => {
  it('sees live records only, through its cursor too', async () => {
    expect(ids(await places.aggregate([{ $sort: { _id: 1 } }]))).toEqual(['cellar', 'house', 'town']);
    expect(ids(await places.aggregate([{ $match: { parentId: 'town' } }]))).toEqual(['house']);
    expect(await places.aggregate([{ $count: 'n' }])).toEqual([{ n: 3 }]);
    expect(await places.aggregate().match({ parentId: 'town' }).count('n')).toEqual([{ n: 1 }]);
    const walked: { _id: unknown }[] = [];
    for await (const row of places.aggregate<Place>([{ $match: { parentId: 'town' } }]).cursor()) walked.push(row);
    expect(ids(walked)).toEqual(['house']);
  });

  it('sees deleted records on request', async () => {
    expect(ids(await places.aggregate([]).match({ parentId: 'town' }).option({ deleted: 'include' }))).toEqual(['house', 'ruin']);
    expect(ids(await places.aggregate([{ $sort: { _id: 1 } }]).option({ deleted: 'only' }))).toEqual(['ruin']);
  });

  it('may begin with a stage that must be first', async () => {
    const near = { near: { type: 'Point' as const, coordinates: [1, 1] as [number, number] }, distanceField: 'metres' };
    expect(ids(await places.aggregate([{ $geoNear: near }]))).toEqual(['cellar', 'house', 'town']);
    expect(ids(await places.aggregate([{ $match: { $text: { $search: 'ruin house' } } }]))).toEqual(['house']);
    expect(await places.aggregate([{ $collStats: { count: {} } }])).toMatchObject([{ count: 4 }]);
  });

  it('joins live records only, in both forms of $lookup, at any depth', async () => {
    const short = { from: 'places', localField: '_id', foreignField: 'parentId', as: 'children' };
    const [town] = await places.aggregate<{ children: Place[] }>([{ $match: { _id: 'town' } }, { $lookup: short }]);
    expect(ids(town?.children ?? [])).toEqual(['house']);

    const long = {
      from: 'places',
      let: { id: '$_id' },
      pipeline: [{ $match: { $expr: { $eq: ['$parentId', '$$id'] } } }],
      as: 'children',
    };
    const [again] = await places.aggregate<{ children: Place[] }>([{ $match: { _id: 'town' } }, { $lookup: long }]);
    expect(ids(again?.children ?? [])).toEqual(['house']);

    const facets = { all: [{ $match: { _id: 'town' } }, { $lookup: short }], ruins: [{ $match: { _id: 'ruin' } }] };
    const [faceted] = await places.aggregate<{ all: { children: Place[] }[]; ruins: Place[] }>([{ $facet: facets }]);
    expect(ids(faceted?.all[0]?.children ?? [])).toEqual(['house']);
    expect(faceted?.ruins).toEqual([]);
  });

  it('of a model without soft deletion joins live records only', async () => {
    const place = { from: 'places', localField: 'placeId', foreignField: '_id', as: 'place' };
    const rows = await visits.aggregate<{ place: Place[] }>([{ $lookup: place }]);
    expect(rows.flatMap((row) => ids(row.place))).toEqual(['house']);
  });

  it('unites and traverses live records only', async () => {
    expect(ids(await visits.aggregate([{ $match: { placeId: 'none' } }, { $unionWith: 'places' }]))).toEqual([
      'cellar',
      'house',
      'town',
    ]);
    const union = { coll: 'places', pipeline: [{ $match: { parentId: 'town' } }] };
    expect(ids(await places.aggregate([{ $match: { _id: 'town' } }, { $unionWith: union }]))).toEqual(['house', 'town']);

    const walk = { from: 'places', startWith: '$_id', connectFromField: '_id', connectToField: 'parentId', as: 'below' };
    const [town] = await places.aggregate<{ below: Place[] }>([{ $match: { _id: 'town' } }, { $graphLookup: walk }]);
    expect(ids(town?.below ?? [])).toEqual(['house']);
    const restricted = { ...walk, restrictSearchWithMatch: { name: { $ne: 'house' } } };
    const [none] = await places.aggregate<{ below: Place[] }>([{ $match: { _id: 'town' } }, { $graphLookup: restricted }]);
    expect(none?.below).toEqual([]);
  });
});
