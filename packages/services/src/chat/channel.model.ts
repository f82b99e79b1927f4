import { defineModel, type Live } from '@tandem/storage';
import { listIndexes } from '../shared/list-indexes.js';
import { notesField, type NotedRecord } from '../shared/unit-notes.js';
import { channelResource } from './channels.schemas.js';

/** Its messages are numbered where they are stored: see `message-log.ts`. */
export interface ChannelRecord extends Live, NotedRecord {
  name: string;
  ownerId: string;
  /** Whether anybody may join by oneself; a host may leave it out, which counts as closed. */
  open?: boolean;
  /** Of the deletion that took it last; null while there was none. */
  deletionId: string | null;
}

export const channelModel = defineModel<ChannelRecord>('channels', {
  fields: {
    name: { type: String, required: true },
    ownerId: { type: String, required: true },
    open: { type: Boolean, default: false },
    deletionId: { type: String, default: null },
    notes: notesField,
  },
  indexes: listIndexes(channelResource, { by: ['ownerId'] }),
});
