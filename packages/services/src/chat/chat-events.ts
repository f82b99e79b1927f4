import type { EventBus } from '@tandem/core';
import { z } from 'zod';
import { FileSchema } from '../files/files.schemas.js';
import { PersonSchema } from '../people/people.schemas.js';
import { Id } from '../shared/schemas.js';
import { ChannelSchema } from './channels.schemas.js';
import { OWN_TOPIC, publishOwnChange, type OwnChange } from './own-changes.js';
import { ChangeNumber, MessageSchema } from './messages.schemas.js';
import { ReactionCountSchema, reactionEvent } from './reactions.schemas.js';
import { ChannelRole } from './subscriptions.schemas.js';

function eventOf<Type extends string, Fields extends z.ZodRawShape>(type: Type, description: string, fields: Fields) {
  return z.object({ type: z.literal(type), channelId: Id, ...fields }).describe(description);
}

/** A lasting change, told in the order of `change` (decisions C1). */
function changeOf<Type extends string, Fields extends z.ZodRawShape>(type: Type, description: string, fields: Fields) {
  return eventOf(type, description, { change: ChangeNumber, ...fields });
}

/** A message in a frame; with its sender for readers that asked for it. */
export const SentMessageSchema = MessageSchema.extend({
  reactions: z.array(ReactionCountSchema),
  sender: PersonSchema.nullable().optional().describe('For readers that `expand` it; null if the sender is no member any more.'),
}).meta({ id: 'SentMessage' });
export type SentMessage = z.infer<typeof SentMessageSchema>;

/** Events for the readers of a channel. Streams send each event unchanged as a frame (decisions S2). */
export const ChatEventSchema = z.discriminatedUnion('type', [
  /** Sent again with the same `seq` when a sender repeats a message whose outcome it did not learn. */
  changeOf('message.created', 'A message, in the order of `message.seq`.', { message: SentMessageSchema }),
  changeOf('message.updated', 'A message was changed, or restored, or has another count of replies.', {
    message: SentMessageSchema,
  }),
  changeOf('message.deleted', 'A message was deleted.', { messageId: Id, seq: z.number().int().min(1) }),
  changeOf('attachment.created', 'A file was attached to a message.', { messageId: Id, attachment: FileSchema }),
  changeOf('attachment.deleted', 'A file was removed from a message.', { messageId: Id, attachmentId: Id }),
  changeOf('reaction.created', 'A member reacts to a message; `count` members do with this key now.', reactionEvent),
  changeOf('reaction.deleted', 'A member has taken a reaction back.', reactionEvent),
  changeOf('pin.created', 'A message was pinned.', { messageId: Id, identityId: Id }),
  changeOf('pin.deleted', 'A message is no longer pinned.', { messageId: Id, identityId: Id }),
  changeOf('channel.updated', 'The channel was changed.', { channel: ChannelSchema }),
  changeOf('channel.deleted', 'The channel was deleted.', {}),
  eventOf('read', 'A member has read up to and including `seq`.', {
    identityId: Id,
    messageId: Id,
    seq: z.number().int().min(1),
  }),
  eventOf('typing', 'A member is typing.', { identityId: Id }),
  eventOf('presence', 'A member is there or gone; a hint, only in channels with few readers.', {
    identityId: Id,
    status: z.enum(['online', 'offline']),
  }),
  changeOf('subscription.created', 'An identity has joined the channel.', { identityId: Id, role: ChannelRole }),
  changeOf('subscription.updated', 'A member has another role, or was muted or allowed to write again.', {
    identityId: Id,
    role: ChannelRole,
  }),
  changeOf('subscription.deleted', 'An identity has left the channel, or was removed.', { identityId: Id, role: ChannelRole }),
]);
export type ChatEvent = z.infer<typeof ChatEventSchema>;
export type LastingEvent = Extract<ChatEvent, { change: number }>;

/** The bus topic of a channel's events. Each is published after its write was acknowledged. */
export function channelTopic(channelId: string): string {
  return `channel:${channelId}`;
}

export function publishChatEvent(bus: EventBus, event: ChatEvent): void {
  bus.publish(channelTopic(event.channelId), event);
  publishOwnChange(bus, event);
}

/**
 * Says on a channel's topic up to which number its changes are stored: the process that was to announce them may have died. Readers
 * that lack some look them up.
 */
export interface StoredUpTo {
  type: 'stored';
  channelId: string;
  change: number;
}

/** @param own what streams of one's own may have missed, which they look up or have already */
export function publishStored(bus: EventBus, channelId: string, change: number, own: readonly OwnChange[]): void {
  bus.publish(channelTopic(channelId), { type: 'stored', channelId, change } satisfies StoredUpTo);
  for (const one of own) bus.publish(OWN_TOPIC, one);
}
