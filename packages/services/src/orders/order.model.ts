import { listIndexes } from '@tandem/lists';
import { defineModel, type Live } from '@tandem/storage';
import type { StoredHostFields } from '../shared/host-fields.js';
import type { Metadata } from '../shared/metadata.js';
import { Currency } from '../shared/money.js';
import { HOST_FIELDS_PATH } from '../shared/record.js';
import { inWholeUnits } from './order-amounts.js';
import { ORDER_STATUSES, type OrderStatus } from './order-states.js';
import { orderResource } from './orders.schemas.js';

export const PRICE_SOURCES = ['variant', 'product', 'caller'] as const;
export type PriceSource = (typeof PRICE_SOURCES)[number];

/** An order line with the unit price at the time of the order. */
export interface OrderLine {
  productId: string;
  variantId: string | null;
  quantity: number;
  /** Unit price in minor units of the order's currency. */
  price: number;
  priceSource: PriceSource;
}

export interface OrderMove {
  status: OrderStatus;
  at: Date;
  /** The identity that moved the order. */
  identityId: string;
}

/** Amounts are in minor units of the currency (decisions R5). Lines and amounts never change. */
export interface OrderRecord extends Live {
  identityId: string;
  organizationId: string | null;
  currency: string;
  items: OrderLine[];
  subtotal: number;
  tax: number;
  total: number;
  /** The wire amounts in whole units. Only lists use them, to filter, sort and sum. */
  shown: { subtotal: number; tax: number; total: number };
  status: OrderStatus;
  metadata?: Metadata;
  privateMetadata?: Metadata;
  hostFields?: StoredHostFields | null;
  /** All states so far, oldest first. */
  history: OrderMove[];
}

export const orderModel = defineModel<OrderRecord>('orders', {
  traced: { kind: 'order', organization: 'organizationId' },
  people: {
    identityId: {
      erased: 'keep',
      cleared: { metadata: undefined, privateMetadata: undefined, hostFields: undefined },
      exported: [
        'organizationId',
        'currency',
        'items',
        'shown',
        'status',
        'metadata',
        'hostFields',
        'history',
        'createdAt',
        'updatedAt',
      ],
      // a host may have written what is no currency
      shown: (record) =>
        Currency.safeParse(record['currency']).success ? inWholeUnits(record as unknown as OrderRecord) : record,
    },
    'history.identityId': { erased: 'keep', exported: false },
  },
  fields: {
    identityId: { type: String, required: true },
    organizationId: { type: String, default: null },
    currency: { type: String, required: true },
    items: {
      type: [{ _id: false, productId: String, variantId: String, quantity: Number, price: Number, priceSource: String }],
      default: [],
    },
    subtotal: { type: Number, required: true },
    tax: { type: Number, default: 0 },
    total: { type: Number, required: true },
    shown: { subtotal: Number, tax: Number, total: Number },
    status: { type: String, enum: ORDER_STATUSES, default: 'pending' },
    metadata: { type: Object },
    privateMetadata: { type: Object },
    ...HOST_FIELDS_PATH,
    history: { type: [{ _id: false, status: String, at: Date, identityId: String }], default: [] },
  },
  indexes: [
    ...listIndexes(orderResource, { by: ['identityId', 'organizationId'] }),
    { keys: { identityId: 1 }, deletedToo: true, serves: 'all orders of a person' },
    { keys: { organizationId: 1, identityId: 1 }, serves: 'who has ordered from an organization' },
  ],
});
