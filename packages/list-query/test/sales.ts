import { defineListResource } from '../src/index.js';
import type { Stored } from './database.js';

/** Sales of shops; every field except the id may be null or missing. */
export const sales = defineListResource({
  name: 'sales',
  fields: {
    shop: 'string',
    'place.city': 'string',
    amount: 'number',
    soldAt: 'date',
    paid: 'boolean',
    tags: 'string[]',
    top: 'number',
    secretNote: { type: 'string', filter: false, sort: false, group: false, aggregate: false },
  },
  hidden: ['cost'],
  relations: { seller: { from: 'sellerId' } },
  defaultOrder: 'soldAt desc',
});

const day = (n: number) => new Date(Date.UTC(2024, 0, n));
export const saleDocuments = [
  { _id: 's1', shop: 'north', place: { city: 'Oslo' }, amount: 10, soldAt: day(1), paid: true, tags: ['a'], cost: 1 },
  { _id: 's2', shop: 'north', place: { city: 'Oslo' }, amount: 30, soldAt: day(2), paid: false, tags: [], cost: 1 },
  { _id: 's3', shop: 'north', place: { city: 'Bergen' }, amount: null, soldAt: day(3), paid: true, cost: 1 },
  { _id: 's4', shop: 'south', place: null, amount: 20, soldAt: day(4), paid: true, cost: 1 },
  { _id: 's5', shop: 'south', amount: 20, soldAt: day(5), paid: null, cost: 1 },
  { _id: 's6', shop: null, place: { city: 'Rome' }, soldAt: day(6), cost: 1 },
  { _id: 's7', place: { city: 'Rome' }, amount: 5, soldAt: null, cost: 1 },
  { _id: 's8', shop: 'north', amount: 1e6, soldAt: day(8), deletedAt: day(9), cost: 1 },
] satisfies Stored[];
