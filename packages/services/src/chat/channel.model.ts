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
  ],
});

/** Who owns a channel: of a direct one, both. */
export function ownersOf({ ownerId, pair }: Pick<ChannelRecord, 'ownerId' | 'pair'>): string[] {
  return pair?.split(' ') ?? [ownerId];
}
