import { defineList, relatedOne } from '@tandem/lists';
import { z } from 'zod';
import { personKind } from '../people/people.schemas.js';
import { defineRecord, field, serverField } from '../shared/record.js';
import { Id } from '../shared/schemas.js';
import { channelKind } from './channels.schemas.js';

const REASON_MAX = 1000;
const REPORT_STATUSES = ['open', 'resolved', 'dismissed'] as const;
const Status = z.enum(REPORT_STATUSES).describe('What has become of it.');
export type ReportStatus = z.infer<typeof Status>;

const id = { stored: { type: String, required: true }, list: { type: 'string', sort: false } } as const;
const text = { type: String, default: null } as const;

/** What somebody says of a message, with its text as it was then. */
export const reportRecord = defineRecord('reports', {
  fields: {
    messageId: field(Id, { fixed: true, ...id }),
    channelId: serverField(Id, id),
    senderId: serverField(Id.describe('The sender of the message.'), id),
    reporterId: serverField(Id.describe('The identity that reports it.'), id),
    reason: field(z.string().trim().min(1).max(REASON_MAX).describe('What is wrong with it.'), { fixed: true }),
    status: serverField(Status, { stored: { type: String, default: 'open' }, list: { type: 'string', sort: false } }),
    content: serverField(z.string().describe('The text of the message when it was reported.'), { stored: text }),
    title: serverField(z.string().nullable().describe('Its title then.'), { stored: text }),
  },
});
export const ReportSchema = reportRecord.schema.meta({ id: 'Report' });
export type Report = z.infer<typeof ReportSchema>;

export const reportList = defineList(reportRecord.resource, {
  row: ReportSchema,
  relations: {
    reporter: relatedOne(personKind, 'reporterId'),
    sender: relatedOne(personKind, 'senderId'),
    channel: relatedOne(channelKind, 'channelId'),
  },
  equal: { status: Status, channelId: Id, messageId: Id, senderId: Id },
});

export const reportInput = z.strictObject({ reportId: Id });
export const createReportInput = z.strictObject(reportRecord.given);
export type NewReport = z.infer<typeof createReportInput>;
export const reportPatchInput = z.strictObject({ reportId: Id, status: Status.optional() });
