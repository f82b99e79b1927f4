import type { ListAnswer, ListQuery, Lists, ReadQuery } from '@tandem/lists';
import { insertBelow, newId, present, type Storage } from '@tandem/storage';
import { changeRecord } from '../shared/changes.js';
import { madeIn } from '../shared/made-records.js';
import { chatErrors } from './chat.errors.js';
import { messageModel, type MessageRecord } from './message.model.js';
import { moderationErrors as errors } from './moderation.errors.js';
import { reportModel, type ReportRecord } from './report.model.js';
import { reportList, type NewReport, type Report, type ReportStatus } from './reports.schemas.js';

export type ReportsService = ReturnType<typeof createReportsService>;

const show = (record: ReportRecord): Report => present(record);

/** What members report of messages, for admins (decisions C4). */
export function createReportsService({ storage, lists }: { storage: Storage; lists: Lists }) {
  const Reports = storage.model(reportModel);
  const Messages = storage.model(messageModel);
  lists.tell('report', reportList, { show });
  const showOne = lists.one(reportList, show);

  return {
    /**
     * Reports a message, with its text as it is now. The caller must check that the reporter is a member.
     * @throws chatErrors.messageNotFound; errors.alreadyReported
     */
    async create({ messageId, reason }: NewReport, reporterId: string, _id = newId(storage.clock)): Promise<Report> {
      const message = await Messages.findById(messageId).lean<MessageRecord>();
      if (!message) throw chatErrors.messageNotFound();
      const { channelId, senderId, content, title } = message;
      const given = { _id, messageId, channelId, senderId, reporterId, reason, content, title };
      const record = await insertBelow(Reports, given, () => Promise.resolve());
      if (!record) throw errors.alreadyReported();
      return show(record);
    },

    made: madeIn(Reports, (record) => showOne(record, errors.reportNotFound)),

    list: (query: ListQuery): Promise<ListAnswer<Report>> => lists.answer(reportList, Reports, { show }, query),

    /** @throws errors.reportNotFound */
    get: (reportId: string, query?: ReadQuery): Promise<Report> =>
      lists.find(reportList, Reports, { _id: reportId }, { show }, errors.reportNotFound, query),

    /** @throws errors.noReportUpdate for an empty change, reportNotFound */
    async patch(reportId: string, status: ReportStatus | undefined): Promise<Report> {
      if (status === undefined) throw errors.noReportUpdate();
      const set = { status, updatedAt: storage.clock.now() };
      return showOne(await changeRecord(Reports, { _id: reportId }, set), errors.reportNotFound);
    },
  };
}
