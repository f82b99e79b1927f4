import { admin, notGuest, router } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { createRoute, getRoute, listRoute, patchRoute } from '../shared/record-routes.js';
import type { ChatRules } from './chat-rules.js';
import { chatErrors } from './chat.errors.js';
import { moderationErrors as errors } from './moderation.errors.js';
import { ReportSchema, createReportInput, reportInput, reportList, reportPatchInput } from './reports.schemas.js';
import type { ReportsService } from './reports.service.js';

const report = {
  one: 'report',
  many: 'reports',
  output: ReportSchema,
  list: reportList,
  idInput: reportInput,
  errors: { notFound: errors.reportNotFound, nothingToUpdate: errors.noReportUpdate },
};

/** Routes for reports of messages (decisions C4). */
export function createReportsRouter(reports: ReportsService, rules: Pick<ChatRules, 'memberOfMessage'>) {
  return router({
    createReport: createRoute(report, 'POST /messages/{messageId}/reports', createReportInput, {
      summary: 'Report a message to the admins, with its text as it is',
      made: reports.made,
      errors: [chatErrors.messageNotFound, errors.alreadyReported],
      allow: [notGuest, rules.memberOfMessage],
    }).mutation(({ ctx, input }) => reports.create(input, ctx.identity.id, ctx.newId?.())),

    listReports: listRoute(report, 'GET /reports', reportList, {
      summary: 'List the reports of messages, newest first',
      allow: [admin],
    }).query(({ ctx, input }) => reports.list(askedBy(ctx, input))),

    getReport: getRoute(report, 'GET /reports/{reportId}', { allow: [admin] }).query(({ input }) =>
      reports.get(input.reportId, input),
    ),

    patchReport: patchRoute(report, 'PATCH /reports/{reportId}', reportPatchInput, {
      summary: 'Say what has become of a report',
      allow: [admin],
    }).mutation(({ input: { reportId, status } }) => reports.patch(reportId, status)),
  });
}
