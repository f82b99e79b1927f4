import { inWrite, notGuest, router, self } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { ATTACH_ERRORS, fileErrors } from '../files/files.errors.js';
import { FileSchema } from '../files/files.schemas.js';
import { uploadRoute } from '../files/upload-route.js';
import { createRoute, deleteRoute, getRoute, listRoute, patchRoute, removeRoute, restoreRoute } from '../shared/record-routes.js';
import type { ChatRules } from './chat-rules.js';
import type { ChatService } from './chat.service.js';
import { chatErrors as errors } from './chat.errors.js';
import { messageVersionList } from './message-versions.js';
import {
  MessageSchema,
  attachInput,
  attachmentInput,
  attachmentUploadInput,
  channelMessageList,
  createMessageInput,
  messageInput,
  messageList,
  messagePatchInput,
  postedFileUploadInput,
  replyList,
} from './messages.schemas.js';

const message = {
  one: 'message',
  many: 'messages',
  output: MessageSchema,
  list: messageList,
  idInput: messageInput,
  errors: { notFound: errors.messageNotFound, nothingToUpdate: errors.noMessageUpdate },
};
const attachment = {
  one: 'chat message attachment',
  output: FileSchema,
  idInput: attachmentInput,
  errors: { notFound: errors.messageNotFound },
};

/** Routes of messages, their replies, earlier texts and attachments (decisions S3, S4, C3). */
export function createMessagesRouter({ messages, messageFiles, versions }: ChatService, rules: ChatRules) {
  return router({
    postedFileUploadUrl: uploadRoute('GET /channels/{channelId}/attachment-upload-url', postedFileUploadInput, {
      what: 'a file to post with a message',
      allow: [notGuest, rules.speaker],
    }).query(({ ctx, input }) => messageFiles.postedFileUploadUrl(input, ctx.identity.id)),

    createMessage: createRoute(message, 'POST /messages', createMessageInput, {
      summary: 'Post a message; a repeated `clientId` returns the stored message',
      failure: 'Failed to create chat message.',
      errors: [errors.messageNotFound, ...ATTACH_ERRORS],
      allow: [notGuest, self('senderId'), inWrite(rules.speaker)],
    }).mutation(({ ctx, input }) => messages.post(input, ctx.newId?.())),

    listMessages: listRoute(message, 'GET /messages', messageList, {
      summary: 'List the messages of a channel, newest first, or search the channels of the caller',
      failure: 'Failed to find chat messages.',
      allow: [rules.listsMessages],
    }).query(({ ctx, input }) => {
      const query = askedBy(ctx, input);
      const { channelId } = input;
      return channelId === undefined ? messages.search(ctx.identity.id, query) : messages.list(channelId, query);
    }),

    listMessagesOfChannel: listRoute(message, 'GET /channels/{channelId}/messages', channelMessageList, {
      summary: 'List the messages of a channel, newest first',
      failure: 'Failed to get channel messages',
      allow: [rules.channelExists, rules.member],
    }).query(({ ctx, input }) => messages.list(input.channelId, askedBy(ctx, input))),

    getMessage: getRoute({ ...message, errors: { notFound: errors.messageNotFoundStop } }, 'GET /messages/{messageId}', {
      failure: 'Failed to get chat message.',
      allow: [rules.readsMessage],
    }).query(({ input }) => messages.get(input.messageId, input)),

    listReplies: listRoute(message, 'GET /messages/{messageId}/replies', replyList, {
      summary: 'List the replies to a message, newest first',
      failure: 'Failed to find chat messages.',
      errors: [errors.messageNotFound],
      allow: [rules.memberOfAnyMessage],
    }).query(({ ctx, input }) => messages.listReplies(input.messageId, askedBy(ctx, input))),

    listMessageVersions: listRoute(message, 'GET /messages/{messageId}/versions', messageVersionList, {
      summary: 'List the texts that a message had before its present one, oldest first',
      failure: 'Failed to find versions of the chat message',
      errors: [errors.messageNotFound],
      allow: [rules.memberOfAnyMessage],
    }).query(({ ctx, input }) => versions.list(input.messageId, askedBy(ctx, input))),

    patchMessage: patchRoute(message, 'PATCH /messages/{messageId}', messagePatchInput, {
      summary: 'Change a message of the caller',
      failure: 'Failed to update chat message',
      allow: [notGuest, rules.sender, rules.speakerOfMessage],
    }).mutation(({ input: { messageId, ...patch } }) => messages.patch(messageId, patch)),

    deleteMessage: deleteRoute(message, 'DELETE /messages/{messageId}', {
      failure: 'Failed to delete chat message',
      allow: [notGuest, rules.deletesMessage],
    }).mutation(({ input }) => messages.delete(input.messageId)),

    restoreMessage: restoreRoute(message, 'POST /messages/{messageId}/restore', {
      failure: 'Failed to restore chat message',
      errors: [errors.channelNotFound],
    }).mutation(({ ctx, input }) => messages.restore(input.messageId, ctx.identity.id)),

    attachmentUploadUrl: uploadRoute('GET /messages/{messageId}/attachment-upload-url', attachmentUploadInput, {
      what: 'an attachment',
      notFound: errors.messageNotFound,
      allow: [notGuest, rules.sender, rules.speakerOfMessage],
    }).query(({ ctx, input }) => messageFiles.attachmentUploadUrl(input.messageId, input, ctx.identity.id)),

    addAttachment: createRoute(attachment, 'POST /messages/{messageId}/attachments', attachInput, {
      summary: 'Add an uploaded file to a message of the caller',
      made: (_, { ctx, input: { messageId, ...file } }) => messageFiles.attached(messageId, file, ctx.identity.id),
      errors: [errors.messageNotFound, ...ATTACH_ERRORS, fileErrors.tooMany],
      allow: [notGuest, rules.sender, rules.speakerOfMessage],
    }).mutation(({ ctx, input: { messageId, ...file } }) => messageFiles.attach(messageId, file, ctx.identity.id)),

    removeAttachment: removeRoute(attachment, 'DELETE /messages/{messageId}/attachments/{attachmentId}', {
      summary: 'Remove an attachment from a message',
      failure: 'Failed to delete chat message attachment.',
      errors: [errors.messageNotFoundStop, errors.attachmentNotFound],
      allow: [notGuest, rules.removesAttachment],
    }).mutation(({ input }) => messageFiles.detach(input.messageId, input.attachmentId)),
  });
}
