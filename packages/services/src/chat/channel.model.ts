import { listIndexes } from '@tandem/lists';
import { defineModel, type Deletable } from '@tandem/storage';
import type { Metadata } from '../shared/metadata.js';
import type { NotedRecord } from '../shared/unit-notes.js';
import type { StoredFields } from '../shared/record.js';
import { channelRecord } from './channels.schemas.js';

/** Messages are numbered in their own collection: see `message-log.ts`. */
export interface ChannelRecord extends Deletable, NotedRecord, StoredFields<typeof channelRecord> {
  metadata?: Metadata;
}

export const channelModel = defineModel<ChannelRecord>('channels', {
  traced: { kind: 'channel', organization: 'organizationId' },
  fields: channelRecord.stored,
  searched: channelRecord.resource.searched,
  indexes: listIndexes(channelRecord.resource, { by: ['ownerId'] }),
});
