import { admin, authenticatedRoute, ownerInWrite, router, self } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { notificationErrors } from './notifications.errors.js';
import {
  NotificationSchema,
  UnreadCountSchema,
  markReadUpToInput,
  notificationInput,
  notificationList,
  unreadCountInput,
} from './notifications.schemas.js';
import type { NotificationsService } from './notifications.service.js';
import type { StreamTickets } from '../streams/stream-tickets.js';

const { notFound } = notificationErrors;

/** The notification routes (spec, "Notification service"). */
export function createNotificationsRouter(notifications: NotificationsService, tickets: StreamTickets) {
  return router({
    createListenTicket: tickets.procedure('notifications'),

    markRead: authenticatedRoute('POST /notifications/{notificationId}/read', {
      status: 204,
      summary: 'Mark one notification read',
      failure: 'Failed to update notification',
      errors: [notFound],
      allow: [ownerInWrite('notificationId', notifications.receiverOf, 'the receiver of the notification')],
    })
      .input(notificationInput)
      .mutation(({ ctx, input }) => notifications.markRead(input.notificationId, ctx.identity.id)),

    list: authenticatedRoute('GET /notifications/identities/{identityId}', {
      summary: 'List the notifications of an identity, newest first',
      failure: 'Failed to find notifications',
      errors: [listErrors.invalidNextToken],
      allow: [self('identityId')],
    })
      .input(notificationList.input)
      .output(notificationList.output)
      .query(({ ctx, input }) => notifications.list(input.identityId, askedBy(ctx, input))),

    unreadCount: authenticatedRoute('GET /notifications/identities/{identityId}/unread-count', {
      summary: 'Count the unread notifications of an identity',
      failure: 'Failed to find notifications',
      allow: [self('identityId')],
    })
      .input(unreadCountInput)
      .output(UnreadCountSchema)
      .query(async ({ input }) => ({ unread: await notifications.unreadCount(input.identityId) })),

    markReadUpTo: authenticatedRoute('POST /notifications/identities/{identityId}/read', {
      status: 204,
      summary: 'Mark notifications read, up to and including an anchor',
      failure: 'Failed to update notifications',
      errors: [notFound],
      allow: [self('identityId')],
    })
      .input(markReadUpToInput)
      .mutation(({ input }) => notifications.markReadUpTo(input.identityId, input.lastReadNotificationId)),

    restore: authenticatedRoute('POST /notifications/{notificationId}/restore', {
      summary: 'Restore a deleted notification',
      failure: 'Failed to restore notification',
      errors: [notFound],
      allow: [admin],
    })
      .input(notificationInput)
      .output(NotificationSchema)
      .mutation(({ input }) => notifications.restore(input.notificationId)),
  });
}
