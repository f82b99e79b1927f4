import { listIndexes } from '@tandem/lists';
import { defineModel, type Deletable } from '@tandem/storage';
import type { Metadata } from '../shared/metadata.js';
import type { NotedRecord } from '../shared/unit-notes.js';
import type { StoredFields } from '../shared/record.js';
import { channelRecord } from './channels.schemas.js';

/** Messages are numbered in their own collection: see `message-log.ts`. */
export interface ChannelRecord extends Deletable, NotedRecord, StoredFields<typeof channelRecord> {
  metadata?: Metadata;
  direct?: boolean;
  /** The two people of a direct channel. */
  pair?: string;
}

export const channelModel = defineModel<ChannelRecord>('channels', {
  traced: { kind: 'channel', organization: 'organizationId', hidden: ['pair'] },
  // see `chat-erasure.ts`: another owner follows
  people: {
    ownerId: { erased: 'own', exported: ['name', 'open', 'direct', 'createdAt'] },
    pair: { erased: 'own', exported: false },
  },
  files: ['channel-icon'],
  fields: channelRecord.stored,
  searched: channelRecord.resource.searched,
  indexes: [
    {
      keys: { pair: 1 },
      unique: true,
      where: { pair: { $type: 'string' } },
      deletedToo: true,
      serves: 'the one channel of two people',
    },
    ...listIndexes(channelRecord.resource, { by: ['ownerId'] }),
    { keys: { ownerId: 1 }, deletedToo: true, serves: 'the erasure of an owner' },
  ],
});

/** Who owns a channel: of a direct one, both. */
export function ownersOf({ ownerId, pair }: Pick<ChannelRecord, 'ownerId' | 'pair'>): string[] {
  return pair?.split(' ') ?? [ownerId];
}
