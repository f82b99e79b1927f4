import { mergeRouters } from '@tandem/core';
import { createBansRouter } from './bans.router.js';
import { createChannelsRouter } from './channels.router.js';
import { createChatRules } from './chat-rules.js';
import type { ChatService } from './chat.service.js';
import type { OrganizationRole } from '../organizations/roles.js';
import type { PeopleService } from '../people/people.service.js';
import { createDirectChannelsRouter } from './direct-channels.router.js';
import { createMessageTemplatesRouter } from './message-templates.router.js';
import { createMessagesRouter } from './messages.router.js';
import { createPinsRouter } from './pins.router.js';
import { createReactionsRouter } from './reactions.router.js';
import { createReadStatesRouter } from './read-states.router.js';
import { createReportsRouter } from './reports.router.js';
import { createSubscriptionsRouter } from './subscriptions.router.js';

interface ChatRouterOptions {
  chat: ChatService;
  people: Pick<PeopleService, 'get'>;
  roleOf(organizationId: string, identityId: string): Promise<OrganizationRole | undefined>;
}

/** The chat routes of the spec ("Other services"), one router for each topic. */
export function createChatRouter({ chat, people, roleOf }: ChatRouterOptions) {
  const rules = createChatRules(chat);
  return mergeRouters(
    createChannelsRouter(chat.channels, rules),
    createDirectChannelsRouter(chat.direct, people),
    createSubscriptionsRouter(chat.subscriptions, rules),
    createMessagesRouter(chat, rules),
    createReactionsRouter(chat.reactions, rules),
    createPinsRouter(chat, rules),
    createBansRouter(chat.bans, rules),
    createReportsRouter(chat.reports, rules),
    createReadStatesRouter(chat.readStates, rules),
    createMessageTemplatesRouter({ templates: chat.templates, roleOf }),
  );
}
