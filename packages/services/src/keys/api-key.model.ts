import { defineListResource } from '@tandem/list-query';
import { listIndexes } from '@tandem/lists';
import { defineModel, type BaseRecord } from '@tandem/storage';

/** An API key (decisions E4). It is removed when it is deleted, and some time after it has ended otherwise. */
export interface ApiKeyRecord extends BaseRecord {
  identityId: string;
  name: string;
  /** SHA-256 of the key, which is never stored. */
  hash: string;
  scopes: string[];
  /** Addresses and networks from which it is accepted; null for all. */
  networks: string[] | null;
  expiresAt: Date | null;
  /** At most a minute old while it is used. */
  lastUsedAt: Date | null;
  /** The identity's `keyEpoch` when the key was made. It is live while the two are equal. */
  epoch: number;
  /** A number that no other key of the identity has: there are only as many as it may have keys. */
  slot: number;
}

export const apiKeyResource = defineListResource({
  name: 'apiKeys',
  fields: { name: 'string', createdAt: 'date', lastUsedAt: 'date', expiresAt: 'date' },
  hidden: ['identityId', 'hash', 'epoch', 'slot', 'updatedAt'],
  defaultOrder: 'createdAt desc, id desc',
  softDelete: false,
});

export const apiKeyModel = defineModel<ApiKeyRecord>('apiKeys', {
  softDelete: false,
  fields: {
    identityId: { type: String, required: true },
    name: { type: String, required: true },
    hash: { type: String, required: true },
    scopes: { type: [String], required: true },
    networks: { type: [String], default: null },
    expiresAt: { type: Date, default: null },
    lastUsedAt: { type: Date, default: null },
    epoch: { type: Number, required: true },
    slot: { type: Number, required: true },
  },
  expires: 'expiresAt',
  people: {
    identityId: { erased: 'remove', exported: ['name', 'scopes', 'networks', 'createdAt', 'lastUsedAt', 'expiresAt'] },
  },
  indexes: [
    { keys: { hash: 1 }, unique: true, serves: 'requests with a key' },
    { keys: { identityId: 1, slot: 1 }, unique: true, serves: 'the number of keys of an identity' },
    ...listIndexes(apiKeyResource, { within: ['identityId'] }),
  ],
});
