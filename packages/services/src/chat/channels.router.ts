import { admin, anyOf, notGuest, router, self } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { ATTACH_ERRORS } from '../files/files.errors.js';
import { uploadRoute } from '../files/upload-route.js';
import { identityErrors } from '../identities/identities.errors.js';
import { createRoute, deleteRoute, getRoute, listRoute, patchRoute, restoreRoute } from '../shared/record-routes.js';
import { ReadChannelSchema, channelList } from './channel-list.js';
import { ChannelSchema, channelInput, channelPatchInput, createChannelInput, iconUploadInput } from './channels.schemas.js';
import type { ChannelsService } from './channels.service.js';
import type { ChatRules } from './chat-rules.js';
import { chatErrors as errors } from './chat.errors.js';

const channel = {
  one: 'channel',
  many: 'channels',
  output: ChannelSchema,
  list: channelList,
  idInput: channelInput,
  errors: { notFound: errors.channelNotFound, nothingToUpdate: errors.noChannelUpdate },
};

/** Channel routes (decisions S4). */
export function createChannelsRouter(channels: ChannelsService, rules: ChatRules) {
  return router({
    createChannel: createRoute(channel, 'POST /channels', createChannelInput, {
      summary: 'Create a channel, whose owner is its first member',
      made: channels.made,
      errors: [identityErrors.notFound, ...ATTACH_ERRORS],
      allow: [notGuest, anyOf(admin, self('ownerId'))],
    }).mutation(({ ctx, input }) => channels.create(input, ctx.identity.id, ctx.newId?.())),

    listChannels: listRoute(channel, 'GET /channels', channelList, {
      summary: 'List the channels that the caller owns or is a member of, newest first; admins can list all',
      allow: [rules.listsOwnChannels],
    }).query(({ ctx, input }) => channels.list(input.memberId, askedBy(ctx, input))),

    getChannel: getRoute({ ...channel, output: ReadChannelSchema }, 'GET /channels/{channelId}', {
      allow: [rules.readsChannel],
    }).query(({ input }) => channels.get(input.channelId, input)),

    patchChannel: patchRoute(channel, 'PATCH /channels/{channelId}', channelPatchInput, {
      errors: ATTACH_ERRORS,
      allow: [notGuest, rules.managesChannel],
    }).mutation(({ ctx, input: { channelId, ...patch } }) => channels.patch(channelId, patch, ctx.identity.id)),

    deleteChannel: deleteRoute(channel, 'DELETE /channels/{channelId}', {
      summary: 'Delete a channel with its messages',
      allow: [notGuest, rules.managesChannel],
    }).mutation(({ input }) => channels.delete(input.channelId)),

    restoreChannel: restoreRoute(channel, 'POST /channels/{channelId}/restore', {
      summary: 'Restore a deleted channel with its members and messages',
    }).mutation(({ input }) => channels.restore(input.channelId)),

    channelIconUploadUrl: uploadRoute('GET /channels/{channelId}/icon-upload-url', iconUploadInput, {
      what: 'an icon',
      notFound: errors.channelNotFound,
      allow: [notGuest, rules.managesChannel],
    }).query(({ ctx, input }) => channels.iconUploadUrl(input.channelId, input, ctx.identity.id)),
  });
}
