import { admin, authenticatedRoute, inWrite, notGuest, router, self } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { ATTACH_ERRORS, fileErrors } from '../files/files.errors.js';
import { FileSchema, UploadAddressSchema } from '../files/files.schemas.js';
import type { ChatRules } from './chat-rules.js';
import { chatErrors as errors } from './chat.errors.js';
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
} from './messages.schemas.js';
import type { MessagesService } from './messages.service.js';

/** Routes of messages and their attachments (decisions S3, S4). */
export function createMessagesRouter(messages: MessagesService, rules: ChatRules) {
  return router({
    createMessage: authenticatedRoute('POST /messages', {
      status: 201,
      summary: 'Post a message; a repeated `clientId` returns the stored message',
      failure: 'Failed to create chat message.',
      errors: [errors.messageNotFound],
      allow: [notGuest, self('senderId'), inWrite(rules.member)],
    })
      .input(createMessageInput)
      .output(MessageSchema)
      .mutation(({ input }) => messages.post(input)),

    listMessages: authenticatedRoute('GET /messages', {
      summary: 'List the messages of a channel, newest first',
      failure: 'Failed to find chat messages.',
      errors: [listErrors.invalidNextToken],
      allow: [rules.member],
    })
      .input(messageList.input)
      .output(messageList.output)
      .query(({ ctx, input }) => messages.list(input.channelId, askedBy(ctx, input))),

    listMessagesOfChannel: authenticatedRoute('GET /channels/{channelId}/messages', {
      summary: 'List the messages of a channel, newest first',
      failure: 'Failed to get channel messages',
      errors: [listErrors.invalidNextToken],
      allow: [rules.channelExists, rules.member],
    })
      .input(channelMessageList.input)
      .output(channelMessageList.output)
      .query(({ ctx, input }) => messages.list(input.channelId, askedBy(ctx, input))),

    getMessage: authenticatedRoute('GET /messages/{messageId}', {
      summary: 'Read a message',
      failure: 'Failed to get chat message.',
      errors: [errors.messageNotFoundStop],
      allow: [rules.readsMessage],
    })
      .input(messageInput)
      .output(MessageSchema)
      .query(({ input }) => messages.get(input.messageId)),

    patchMessage: authenticatedRoute('PATCH /messages/{messageId}', {
      summary: 'Change a message of the caller',
      failure: 'Failed to update chat message',
      errors: [errors.messageNotFound, errors.noMessageUpdate],
      allow: [notGuest, rules.sender, rules.memberOfMessage],
    })
      .input(messagePatchInput)
      .output(MessageSchema)
      .mutation(({ input: { messageId, ...patch } }) => messages.patch(messageId, patch)),

    deleteMessage: authenticatedRoute('DELETE /messages/{messageId}', {
      status: 204,
      summary: 'Delete a message',
      failure: 'Failed to delete chat message',
      errors: [errors.messageNotFound],
      allow: [notGuest, rules.deletesMessage],
    })
      .input(messageInput)
      .mutation(({ input }) => messages.delete(input.messageId)),

    restoreMessage: authenticatedRoute('POST /messages/{messageId}/restore', {
      summary: 'Restore a deleted message',
      failure: 'Failed to restore chat message',
      errors: [errors.messageNotFound, errors.channelNotFound],
      allow: [admin],
    })
      .input(messageInput)
      .output(MessageSchema)
      .mutation(({ input }) => messages.restore(input.messageId)),

    attachmentUploadUrl: authenticatedRoute('GET /messages/{messageId}/attachment-upload-url', {
      summary: 'Get an address to upload an attachment to',
      failure: 'Failed to generate signed upload URL.',
      errors: [errors.messageNotFound, fileErrors.tooManyUnused],
      allow: [notGuest, rules.sender, rules.memberOfMessage],
    })
      .input(attachmentUploadInput)
      .output(UploadAddressSchema)
      .query(({ ctx, input }) => messages.attachmentUploadUrl(input.messageId, input, ctx.identity.id)),

    addAttachment: authenticatedRoute('POST /messages/{messageId}/attachments', {
      status: 201,
      summary: 'Add an uploaded file to a message of the caller',
      failure: 'Failed to create chat message attachment',
      errors: [errors.messageNotFound, ...ATTACH_ERRORS, fileErrors.tooMany],
      allow: [notGuest, rules.sender, rules.memberOfMessage],
    })
      .input(attachInput)
      .output(FileSchema)
      .mutation(({ ctx, input: { messageId, ...file } }) => messages.attach(messageId, file, ctx.identity.id)),

    removeAttachment: authenticatedRoute('DELETE /messages/{messageId}/attachments/{attachmentId}', {
      status: 204,
      summary: 'Remove an attachment from a message',
      failure: 'Failed to delete chat message attachment.',
      errors: [errors.messageNotFound, errors.messageNotFoundStop, errors.attachmentNotFound],
      allow: [notGuest, rules.removesAttachment],
    })
      .input(attachmentInput)
      .mutation(({ input }) => messages.detach(input.messageId, input.attachmentId)),
  });
}
