import { admin, anyOf, authenticatedRoute, notGuest, router, self } from '@tandem/core';
import { askedBy, listErrors } from '@tandem/lists';
import { ATTACH_ERRORS, fileErrors } from '../files/files.errors.js';
import { UploadAddressSchema } from '../files/files.schemas.js';
import { identityErrors } from '../identities/identities.errors.js';
import {
  ChannelSchema,
  channelInput,
  channelList,
  channelPatchInput,
  createChannelInput,
  iconUploadInput,
} from './channels.schemas.js';
import type { ChannelsService } from './channels.service.js';
import type { ChatRules } from './chat-rules.js';
import { chatErrors as errors } from './chat.errors.js';

/** Channel routes (decisions S4). */
export function createChannelsRouter(channels: ChannelsService, rules: ChatRules) {
  return router({
    createChannel: authenticatedRoute('POST /channels', {
      status: 201,
      summary: 'Create a channel, whose owner is its first member',
      failure: 'Failed to create channel',
      errors: [identityErrors.notFound, ...ATTACH_ERRORS],
      allow: [notGuest, anyOf(admin, self('ownerId'))],
    })
      .input(createChannelInput)
      .output(ChannelSchema)
      .mutation(({ ctx, input }) => channels.create(input, ctx.identity.id)),

    listChannels: authenticatedRoute('GET /channels', {
      summary: 'List the channels that the caller owns or is a member of, newest first; admins can list all',
      failure: 'Failed to find channels',
      errors: [listErrors.invalidNextToken],
      allow: [rules.listsOwnChannels],
    })
      .input(channelList.input)
      .output(channelList.output)
      .query(({ ctx, input }) => channels.list(input.memberId, askedBy(ctx, input))),

    getChannel: authenticatedRoute('GET /channels/{channelId}', {
      summary: 'Read a channel',
      failure: 'Failed to get channel',
      errors: [errors.channelNotFound],
      allow: [rules.readsChannel],
    })
      .input(channelInput)
      .output(ChannelSchema)
      .query(({ input }) => channels.get(input.channelId)),

    patchChannel: authenticatedRoute('PATCH /channels/{channelId}', {
      summary: 'Change a channel',
      failure: 'Failed to update channel',
      errors: [errors.channelNotFound, errors.noChannelUpdate, ...ATTACH_ERRORS],
      allow: [notGuest, rules.managesChannel],
    })
      .input(channelPatchInput)
      .output(ChannelSchema)
      .mutation(({ ctx, input: { channelId, ...patch } }) => channels.patch(channelId, patch, ctx.identity.id)),

    deleteChannel: authenticatedRoute('DELETE /channels/{channelId}', {
      status: 204,
      summary: 'Delete a channel with its messages',
      failure: 'Failed to delete channel',
      errors: [errors.channelNotFound],
      allow: [notGuest, rules.managesChannel],
    })
      .input(channelInput)
      .mutation(({ input }) => channels.delete(input.channelId)),

    restoreChannel: authenticatedRoute('POST /channels/{channelId}/restore', {
      summary: 'Restore a deleted channel with its members and messages',
      failure: 'Failed to restore channel',
      errors: [errors.channelNotFound],
      allow: [admin],
    })
      .input(channelInput)
      .output(ChannelSchema)
      .mutation(({ input }) => channels.restore(input.channelId)),

    channelIconUploadUrl: authenticatedRoute('GET /channels/{channelId}/icon-upload-url', {
      summary: 'Get an address to upload an icon to',
      failure: 'Failed to generate signed upload URL.',
      errors: [errors.channelNotFound, fileErrors.tooManyUnused],
      allow: [notGuest, rules.managesChannel],
    })
      .input(iconUploadInput)
      .output(UploadAddressSchema)
      .query(({ ctx, input }) => channels.iconUploadUrl(input.channelId, input, ctx.identity.id)),
  });
}
