import { listIndexes } from '@tandem/lists';
import { defineModel, deletionFields, type Deletable } from '@tandem/storage';
import { notesField, type NotedRecord } from '../shared/unit-notes.js';
import { channelResource } from './channels.schemas.js';

/** Messages are numbered in their own collection: see `message-log.ts`. */
export interface ChannelRecord extends Deletable, NotedRecord {
  name: string;
  ownerId: string;
  /** Whether any identity may join by itself. A host may leave it out, which means closed. */
  open?: boolean;
}

export const channelModel = defineModel<ChannelRecord>('channels', {
  fields: {
    name: { type: String, required: true },
    ownerId: { type: String, required: true },
    open: { type: Boolean, default: false },
    notes: notesField,
    ...deletionFields,
  },
  indexes: listIndexes(channelResource, { by: ['ownerId'] }),
});
