import type { EventBus } from '@tandem/core';
import type { Lists, ReadQuery } from '@tandem/lists';
import type { Storage } from '@tandem/storage';
import { publishChatEvent } from './chat-events.js';
import { chatErrors as errors } from './chat.errors.js';
import { standingOf, type Memberships } from './memberships.js';
import type { MessageLog } from './message-log.js';
import { messageModel, type MessageRecord } from './message.model.js';
import { readStateRelations, type ReadState } from './read-states.schemas.js';
import { subscriptionModel } from './subscription.model.js';

export type ReadStatesService = ReturnType<typeof createReadStatesService>;

interface ReadStatesOptions {
  storage: Storage;
  lists: Lists;
  bus: EventBus;
  memberships: Memberships;
  log: MessageLog;
}

/** How far members have read, stored in their subscriptions. */
export function createReadStatesService({ storage, lists, bus, memberships, log }: ReadStatesOptions) {
  const Messages = storage.model(messageModel);
  const { collection } = storage.model(subscriptionModel);

  return {
    /** @throws errors.notSubscribed */
    async get(channelId: string, identityId: string, query: ReadQuery = {}): Promise<ReadState> {
      const [subscription, lastSeq] = await Promise.all([
        memberships.subscriptionOf(identityId, channelId),
        log.lastSeq(channelId),
      ]);
      const { readSeq, lastReadMessageId, readAt } = subscription;
      const at = readAt instanceof Date ? readAt.toISOString() : null;
      const state = { channelId, identityId, lastReadMessageId, readAt: at, ...standingOf(lastSeq, readSeq) };
      return lists.expanded(readStateRelations, state, state, query);
    },

    /**
     * Marks messages up to and including this one as read, with deleted ones that are all that follows, since nobody can see them
     * to mark them. The position only moves forward: an earlier message changes nothing.
     * @throws errors.notSubscribed, lastReadMessageNotFound
     */
    async markRead({
      channelId,
      identityId,
      messageId,
    }: {
      channelId: string;
      identityId: string;
      messageId: string;
    }): Promise<void> {
      const { readSeq } = await memberships.subscriptionOf(identityId, channelId);
      const [message, lastSeq] = await Promise.all([
        Messages.findOne({ _id: messageId, channelId }, { seq: 1 }).lean<Pick<MessageRecord, 'seq'>>(),
        log.lastSeq(channelId),
      ]);
      if (!message) throw errors.lastReadMessageNotFound();
      const isLast =
        message.seq < lastSeq && (await Messages.exists({ channelId, seq: { $gt: message.seq, $lte: lastSeq } })) === null;
      const seq = isLast ? lastSeq : message.seq;
      if (seq <= readSeq) return;
      const { modifiedCount } = await collection.updateOne(
        { channelId, subscribedId: identityId, deletedAt: null, readSeq: { $lt: seq } },
        { $set: { readSeq: seq, lastReadMessageId: messageId, readAt: storage.clock.now() } },
      );
      if (modifiedCount > 0) publishChatEvent(bus, { type: 'read', channelId, identityId, messageId, seq });
    },
  };
}
