import type { EventBus } from '@tandem/core';
import { versionOf } from '@tandem/storage';
import { publishChatEvent, type ChatEvent, type LastingEvent } from './chat-events.js';
import type { Changed, MessageLog } from './message-log.js';

/** An event of a change that has no number yet. */
export type UnnumberedEvent<Event = LastingEvent> = Event extends ChatEvent ? Omit<Event, 'change'> : never;

/** A changed record, by its version after the change. */
export interface ChangedRecord {
  id: string;
  version: number;
}
export const changedRecord = (record: { _id: string }): ChangedRecord => ({ id: record._id, version: versionOf(record) ?? 0 });
/** The same of a record as it was before its deletion. */
export const deletedRecord = (record: { _id: string }): ChangedRecord => ({
  id: record._id,
  version: (versionOf(record) ?? 0) + 1,
});

function changedBy(event: UnnumberedEvent): Changed {
  switch (event.type) {
    case 'subscription.created':
    case 'subscription.updated':
    case 'subscription.deleted':
      return { kind: 'subscription', type: event.type, identityId: event.identityId, role: event.role };
    case 'reaction.created':
    case 'reaction.deleted': {
      const { type, messageId, key, identityId, count } = event;
      return { kind: 'reaction', type, messageId, key, identityId, count };
    }
    case 'pin.created':
    case 'pin.deleted':
      return { kind: 'pin', recordId: event.messageId, identityId: event.identityId };
    case 'channel.updated':
    case 'channel.deleted':
      return { kind: 'channel' };
    default:
      return { kind: 'message' };
  }
}

/** Numbers lasting changes and announces them to the readers of their channel (decisions C1). */
export function createChangeTeller(log: MessageLog, bus: EventBus) {
  /** Numbers a change, once for each version of its record, and announces it, each time. */
  async function number(event: UnnumberedEvent, record: ChangedRecord): Promise<void> {
    const change = await log.note(event.channelId, record, changedBy(event));
    publishChatEvent(bus, { ...event, change });
  }

  return {
    number,

    /**
     * Numbers a change of what several records make together, and reads only then what is told of it: so that the last that is
     * told shows them all, whoever was first.
     */
    async numberWhole(
      channelId: string,
      record: ChangedRecord,
      changed: Changed,
      read: () => Promise<UnnumberedEvent | undefined>,
    ): Promise<void> {
      const change = await log.note(channelId, record, changed);
      const event = await read();
      if (event) publishChatEvent(bus, { ...event, change });
    },

    /** The same for a change that has been acknowledged. Should the store fail now, the event log sees to it later. */
    tell: (event: UnnumberedEvent, record: ChangedRecord): Promise<void> => number(event, record).catch(() => {}),
  };
}
export type ChangeTeller = ReturnType<typeof createChangeTeller>;
