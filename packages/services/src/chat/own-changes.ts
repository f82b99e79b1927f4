import type { EventBus } from '@tandem/core';
import type { ChatEvent } from './chat-events.js';

/** What streams of one's own hear of the channels of all: they know which ones are theirs (decisions C2). */
export type OwnChange =
  | { type: 'posted'; channelId: string; seq: number }
  | { type: 'read'; channelId: string; identityId: string; seq: number }
  /** Has joined or left, as the store knows. */
  | { type: 'member'; channelId: string; identityId: string }
  | { type: 'deleted'; channelId: string }
  /** Was deleted, as the event log tells: it may be back. */
  | { type: 'missed'; channelId: string }
  /** Or restored, with its members. */
  | { type: 'changed'; channelId: string };

function changeOf(event: ChatEvent): OwnChange | undefined {
  const { channelId } = event;
  switch (event.type) {
    case 'message.created':
      return { type: 'posted', channelId, seq: event.message.seq };
    case 'read':
      return { type: 'read', channelId, identityId: event.identityId, seq: event.seq };
    case 'subscription.created':
    case 'subscription.deleted':
      return { type: 'member', channelId, identityId: event.identityId };
    case 'channel.deleted':
      return { type: 'deleted', channelId };
    case 'channel.updated':
      return { type: 'changed', channelId };
    default:
      return undefined;
  }
}

/** One topic for all channels: a post is published once, whoever listens, and a member of thousands listens to one topic. */
export const OWN_TOPIC = 'channels';

export function publishOwnChange(bus: EventBus, event: ChatEvent): void {
  const change = changeOf(event);
  if (change) bus.publish(OWN_TOPIC, change);
}
