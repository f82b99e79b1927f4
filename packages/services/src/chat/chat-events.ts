import type { EventBus } from '@tandem/core';
import { z } from 'zod';
import { FileSchema } from '../files/files.schemas.js';
import { Id } from '../shared/schemas.js';
import { ChannelSchema } from './channels.schemas.js';
import { MessageSchema } from './messages.schemas.js';

function eventOf<Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  return z.object({ type: z.literal(type), channelId: Id, ...fields });
}

/** What the readers of a channel are told: each event is the frame that streams carry, as it is (decisions S2). */
export const ChatEventSchema = z.discriminatedUnion('type', [
  /** Comes again, with the same `seq`, where a sender was not sure and sent again. */
  eventOf('message.created', { message: MessageSchema }),
  /** Also of one that was restored. */
  eventOf('message.updated', { message: MessageSchema }),
  eventOf('message.deleted', { messageId: Id, seq: z.number().int().min(1) }),
  eventOf('attachment.created', { messageId: Id, attachment: FileSchema }),
  eventOf('attachment.deleted', { messageId: Id, attachmentId: Id }),
  eventOf('channel.updated', { channel: ChannelSchema }),
  eventOf('channel.deleted', {}),
  /** Somebody has read up to and including `seq`. */
  eventOf('read', { identityId: Id, messageId: Id, seq: z.number().int().min(1) }),
  eventOf('typing', { identityId: Id }),
  eventOf('presence', { identityId: Id, status: z.enum(['online', 'offline']) }),
  /** Somebody is a member of the channel from now on, or no longer. */
  eventOf('subscription.created', { identityId: Id }),
  eventOf('subscription.deleted', { identityId: Id }),
]);
export type ChatEvent = z.infer<typeof ChatEventSchema>;

/** The topic of the event bus where the events of a channel are published, each after its write was acknowledged. */
export function channelTopic(channelId: string): string {
  return `channel:${channelId}`;
}

export function publishChatEvent(bus: EventBus, event: ChatEvent): void {
  bus.publish(channelTopic(event.channelId), event);
}
