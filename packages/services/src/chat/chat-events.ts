import type { EventBus } from '@tandem/core';
import { z } from 'zod';
import { FileSchema } from '../files/files.schemas.js';
import { Id } from '../shared/schemas.js';
import { ChannelSchema } from './channels.schemas.js';
import { MessageSchema } from './messages.schemas.js';

function eventOf<Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  return z.object({ type: z.literal(type), channelId: Id, ...fields });
}

/** Events for the readers of a channel. Streams send each event unchanged as a frame (decisions S2). */
export const ChatEventSchema = z.discriminatedUnion('type', [
  /** Sent again with the same `seq` when a sender repeats a message whose outcome it did not learn. */
  eventOf('message.created', { message: MessageSchema }),
  /** Also sent when a message is restored. */
  eventOf('message.updated', { message: MessageSchema }),
  eventOf('message.deleted', { messageId: Id, seq: z.number().int().min(1) }),
  eventOf('attachment.created', { messageId: Id, attachment: FileSchema }),
  eventOf('attachment.deleted', { messageId: Id, attachmentId: Id }),
  eventOf('channel.updated', { channel: ChannelSchema }),
  eventOf('channel.deleted', {}),
  /** A member has read up to and including `seq`. */
  eventOf('read', { identityId: Id, messageId: Id, seq: z.number().int().min(1) }),
  eventOf('typing', { identityId: Id }),
  eventOf('presence', { identityId: Id, status: z.enum(['online', 'offline']) }),
  /** An identity has joined or left the channel. */
  eventOf('subscription.created', { identityId: Id }),
  eventOf('subscription.deleted', { identityId: Id }),
]);
export type ChatEvent = z.infer<typeof ChatEventSchema>;

/** The bus topic of a channel's events. Each is published after its write was acknowledged. */
export function channelTopic(channelId: string): string {
  return `channel:${channelId}`;
}

export function publishChatEvent(bus: EventBus, event: ChatEvent): void {
  bus.publish(channelTopic(event.channelId), event);
}
