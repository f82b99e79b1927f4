import { listIndexes } from '@tandem/lists';
import { defineModel, type Live } from '@tandem/storage';
import { reportRecord, type ReportStatus } from './reports.schemas.js';

export interface ReportRecord extends Live {
  messageId: string;
  channelId: string;
  senderId: string;
  reporterId: string;
  reason: string;
  status: ReportStatus;
  /** The text of the message when it was reported, which stays as it was. */
  content: string;
  title: string | null;
}

export const reportModel = defineModel<ReportRecord>('reports', {
  traced: { kind: 'report' },
  people: {
    reporterId: {
      erased: 'remove',
      cleared: { reason: '' },
      exported: ['messageId', 'channelId', 'reason', 'status', 'createdAt'],
    },
    senderId: { erased: 'keep', texts: { content: '', title: null }, exported: false },
  },
  // a channel that goes takes its messages with it
  goesWith: [{ with: 'messages', by: 'messageId' }],
  fields: reportRecord.stored,
  indexes: [
    { keys: { messageId: 1, reporterId: 1 }, unique: true, serves: 'one report for each message and person' },
    { keys: { messageId: 1 }, deletedToo: true, serves: 'what goes for good with a message' },
    ...listIndexes(reportRecord.resource, { by: ['status', 'channelId', 'senderId'] }),
  ],
});
