import { mergeRouters, router } from '@tandem/core';
import { notifications } from '../notifications/notifications.js';
import { personCards } from '../people/people.js';
import { defineService } from '../shared/define-service.js';
import { banList } from './bans.schemas.js';
import { channelList } from './channel-list.js';
import { chatErrors } from './chat.errors.js';
import { createChatRouter } from './chat.router.js';
import { createChatService } from './chat.service.js';
import { messageTemplateErrors } from './message-templates.errors.js';
import { messageTemplateList, organizationTemplateList } from './message-templates.schemas.js';
import { messageVersionList } from './message-versions.js';
import { moderationErrors } from './moderation.errors.js';
import { channelMessageList, messageList, replyList } from './messages.schemas.js';
import { pinList } from './pinned-messages.js';
import { reportList } from './reports.schemas.js';
import { subscriptionList } from './subscriptions.schemas.js';

export const chat = defineService({
  name: 'chat',
  description: 'Channels, their members, messages with attachments, and message templates.',
  needs: [notifications, personCards],
  create: (all) => ({ chat: createChatService(all) }),
  router: ({ chat: service, people, organizations, streamTickets }, { subscriptions }) =>
    mergeRouters(
      createChatRouter({ chat: service, people, roleOf: organizations.roleOf }),
      router({ createListenTicket: streamTickets.procedure('messages') }),
      subscriptions.chat,
    ),
  lists: {
    listBans: banList,
    listChannels: channelList,
    listMessageTemplates: messageTemplateList,
    listMessageTemplatesOfOrganization: organizationTemplateList,
    listMessages: messageList,
    listMessagesOfChannel: channelMessageList,
    listMessageVersions: messageVersionList,
    listPins: pinList,
    listReplies: replyList,
    listReports: reportList,
    listSubscriptions: subscriptionList,
  },
  tells: ['ban', 'channel', 'message', 'messageTemplate', 'report', 'subscription'],
  errors: { chat: chatErrors, 'message templates': messageTemplateErrors, moderation: moderationErrors },
});
