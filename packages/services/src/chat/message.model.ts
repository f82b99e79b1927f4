import { listIndexes } from '@tandem/lists';
import { defineModel, type Live } from '@tandem/storage';
import type { StoredHostFields } from '../shared/host-fields.js';
import type { Metadata } from '../shared/metadata.js';
import type { StoredFields } from '../shared/record.js';
import { messageRecord } from './messages.schemas.js';

/** The count of a message's replies up to a `seq`, once there are many; `mark` is another with each that is deleted or restored. */
export interface KeptReplies {
  mark: number;
  count?: number;
  seq?: number;
}

export interface MessageRecord extends Live, Required<StoredFields<typeof messageRecord>> {
  seq: number;
  /** The number of the post among the changes of its channel; missing in one from before these were numbered. */
  change?: number;
  /** Only in replies. */
  replyToId?: string | null;
  mentions?: string[];
  /** Only where there are replies, or were. */
  replies?: KeptReplies;
  /** When it got its text, if that is another than its first; the earlier ones are not read with it. */
  textAt?: Date;
  metadata?: Metadata;
  hostFields?: StoredHostFields;
}

/** Other messages cost the index of replies nothing. */
const REPLIES = { replyToId: { $gt: '' } };

export const messageModel = defineModel<MessageRecord>('messages', {
  traced: { kind: 'message', hidden: ['change', 'versions', 'textAt', 'replies'], untold: ['change', 'replies'] },
  people: {
    senderId: {
      erased: 'keep',
      cleared: { metadata: undefined, hostFields: undefined },
      texts: { content: '', title: null, clientId: null, versions: undefined },
      untold: true,
    },
    mentions: { erased: 'replace', untold: true, exported: ['channelId', 'createdAt'] },
    // of a change
    identityId: { erased: 'own', exported: false },
  },
  goesWith: [{ with: 'channels', by: 'channelId' }],
  files: ['message-attachment'],
  // changes are no messages
  deletedRecords: { seq: { $gt: 0 } },
  fields: { ...messageRecord.stored, replies: { type: Object } },
  searched: messageRecord.resource.searched,
  indexes: [
    {
      keys: { channelId: 1, seq: 1 },
      unique: true,
      deletedToo: true,
      serves: 'numbers: one message each, the last one of a channel, those after one',
    },
    {
      keys: { channelId: 1, change: 1 },
      unique: true,
      where: { change: { $gt: 0 } },
      deletedToo: true,
      serves: 'changes: one for each number, the last one of a channel, those after one',
    },
    {
      keys: { channelId: 1, senderId: 1, clientId: 1 },
      unique: true,
      where: { clientId: { $type: 'string' } },
      deletedToo: true,
      serves: 'what a client sends twice is stored once',
    },
    { keys: { senderId: 1 }, where: { senderId: { $gt: '' } }, deletedToo: true, serves: 'the messages of a person' },
    { keys: { mentions: 1 }, where: { mentions: { $gt: '' } }, deletedToo: true, serves: 'the messages that name a person' },
    { keys: { identityId: 1 }, where: { identityId: { $gt: '' } }, deletedToo: true, serves: 'the changes by a person' },
    ...listIndexes(messageRecord.resource, { within: ['channelId'], by: ['replyToId'] }).map((index) =>
      'replyToId' in index.keys ? { ...index, where: REPLIES } : index,
    ),
  ],
});
