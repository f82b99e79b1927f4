import { z } from 'zod';
import { ChannelSchema } from '../chat/channels.schemas.js';
import { Id } from '../shared/schemas.js';

const Number = z.number().int().min(0);

/** What a stream of one's own tells (decisions C2). */
export const OwnEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('channel.added'), channel: ChannelSchema }).describe('One has become a member of a channel.'),
  z.object({ type: z.literal('channel.removed'), channelId: Id }).describe('One is no member any more, or the channel is gone.'),
  z
    .object({ type: z.literal('unread'), channelId: Id, unread: Number, lastSeq: Number })
    .describe('What is unread in a channel; several changes may be told as one.'),
]);
export type OwnEvent = z.infer<typeof OwnEventSchema>;

/** Begins and ends it. */
export const OwnSubscribed = z
  .object({ type: z.literal('subscribed'), self: z.literal(true) })
  .describe('One’s own channels are followed. An `unread` follows for each that has any.');
export const OwnUnsubscribed = z
  .object({ type: z.literal('unsubscribed'), self: z.literal(true) })
  .describe('One’s own channels are no longer followed.');
