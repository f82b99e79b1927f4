import { notGuest, router } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { identityErrors } from '../identities/identities.errors.js';
import { createRoute, listRoute, removeRoute } from '../shared/record-routes.js';
import { BanSchema, banInput, banList, createBanInput } from './bans.schemas.js';
import type { BansService } from './bans.service.js';
import { chatErrors } from './chat.errors.js';
import { moderationErrors as errors } from './moderation.errors.js';
import type { ModerationRules } from './moderation-rules.js';

const ban = {
  one: 'ban',
  many: 'bans',
  output: BanSchema,
  list: banList,
  idInput: banInput,
  errors: { notFound: errors.banNotFound },
};

/** Routes for who is kept out of channels (decisions C4). */
export function createBansRouter(bans: BansService, rules: ModerationRules) {
  return router({
    createBan: createRoute(ban, 'POST /channels/{channelId}/bans', createBanInput, {
      summary: 'Ban an identity from a channel, which removes it; again to change the end',
      made: bans.made,
      errors: [chatErrors.channelNotFound, identityErrors.notFound],
      allow: [notGuest, rules.bansIdentity, rules.notOwnBan],
    }).mutation(({ ctx, input }) => bans.create(input, ctx.identity.id, ctx.newId?.())),

    listBans: listRoute(ban, 'GET /channels/{channelId}/bans', banList, {
      summary: 'List who is banned from a channel, newest first',
      errors: [chatErrors.channelNotFound],
      allow: [rules.moderatesChannel],
    }).query(({ ctx, input }) => bans.list(input.channelId, askedBy(ctx, input))),

    deleteBan: removeRoute(ban, 'DELETE /channels/{channelId}/bans/{identityId}', {
      summary: 'Lift a ban',
      allow: [notGuest, rules.moderatesChannel, rules.notOwnBan],
    }).mutation(({ input }) => bans.delete(input)),
  });
}
