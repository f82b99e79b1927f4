import { authenticatedRoute, ownerInWrite, router, self } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { actionRoute, listRoute, restoreRoute } from '../shared/record-routes.js';
import { notificationErrors as errors } from './notifications.errors.js';
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

const notification = {
  one: 'notification',
  many: 'notifications',
  output: NotificationSchema,
  idInput: notificationInput,
  errors,
};

/** The notification routes (spec, "Notification service"). */
export function createNotificationsRouter(notifications: NotificationsService, tickets: StreamTickets) {
  return router({
    createListenTicket: tickets.procedure('notifications'),

    markRead: actionRoute(notification, 'POST /notifications/{notificationId}/read', 'update', {
      summary: 'Mark one notification read',
      allow: [ownerInWrite('notificationId', notifications.receiverOf, 'the receiver of the notification')],
    }).mutation(({ ctx, input }) => notifications.markRead(input.notificationId, ctx.identity.id)),

    list: listRoute(notification, 'GET /notifications/identities/{identityId}', notificationList, {
      summary: 'List the notifications of an identity, newest first',
      allow: [self('identityId')],
    }).query(({ ctx, input }) => notifications.list(input.identityId, askedBy(ctx, input))),

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
      errors: [errors.notFound],
      allow: [self('identityId')],
    })
      .input(markReadUpToInput)
      .mutation(({ input }) => notifications.markReadUpTo(input.identityId, input.lastReadNotificationId)),

    restore: restoreRoute(notification, 'POST /notifications/{notificationId}/restore').mutation(({ input }) =>
      notifications.restore(input.notificationId),
    ),
  });
}
