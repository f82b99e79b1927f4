import { notGuest, router } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { actionRoute, listRoute, removeRoute } from '../shared/record-routes.js';
import type { ChatRules } from './chat-rules.js';
import { chatErrors as errors } from './chat.errors.js';
import type { ChatService } from './chat.service.js';
import { messageInput } from './messages.schemas.js';
import { pinList } from './pinned-messages.js';

const message = { one: 'chat message', idInput: messageInput, errors: { notFound: errors.messageNotFound } };

/** Routes of pinned messages (decisions C3). */
export function createPinsRouter({ pins, pinned }: Pick<ChatService, 'pins' | 'pinned'>, rules: ChatRules) {
  return router({
    pinMessage: actionRoute(message, 'PUT /messages/{messageId}/pin', 'pin', {
      summary: 'Pin a message in its channel',
      errors: [errors.tooManyPins],
      allow: [notGuest, rules.moderatesChannelOfMessage],
    }).mutation(({ ctx, input }) => pins.pin(input.messageId, ctx.identity.id)),

    unpinMessage: removeRoute(message, 'DELETE /messages/{messageId}/pin', {
      summary: 'Unpin a message',
      failure: 'Failed to unpin chat message',
      allow: [notGuest, rules.moderatesChannelOfMessage],
    }).mutation(({ ctx, input }) => pins.unpin(input.messageId, ctx.identity.id)),

    listPins: listRoute({ many: 'pinned messages' }, 'GET /channels/{channelId}/pins', pinList, {
      summary: 'List the pinned messages of a channel, last pinned first',
      allow: [rules.channelExists, rules.member],
    }).query(({ ctx, input }) => pinned.list(input.channelId, askedBy(ctx, input))),
  });
}
