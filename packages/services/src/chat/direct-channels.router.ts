import { authenticatedRoute, notGuest, router } from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { z } from 'zod';
import { peopleErrors } from '../people/people.errors.js';
import type { PeopleService } from '../people/people.service.js';
import { actorOf } from '../shared/actor.js';
import { Id } from '../shared/schemas.js';
import { ChannelSchema } from './channels.schemas.js';
import { chatErrors as errors } from './chat.errors.js';
import { moderationErrors } from './moderation.errors.js';
import { refuseOneself, type DirectChannels } from './direct-channels.js';

export const directChannelInput = z.strictObject({ identityId: Id.describe('The other person.') });

/** The route of direct channels (decisions C3). */
export function createDirectChannelsRouter(direct: DirectChannels, people: Pick<PeopleService, 'get'>) {
  return router({
    openDirectChannel: authenticatedRoute('POST /channels/direct', {
      summary: 'Open the one channel with another person, made, restored or joined again where needed',
      failure: 'Failed to create channel',
      errors: [peopleErrors.notFound, errors.channelNotFound, moderationErrors.banned],
      allow: [notGuest],
    })
      .input(directChannelInput)
      .output(ChannelSchema)
      .mutation(async ({ ctx, input: { identityId } }) => {
        refuseOneself(ctx.identity.id, identityId);
        await people.get(actorOf(ctx), identityId, askedBy(ctx, {}));
        return direct.open(ctx.identity.id, identityId);
      }),
  });
}
