import type { Storage, ToldEvent } from '@tandem/storage';
import type { Change, ChangedRecord, ChangeTeller } from './change-teller.js';
import { messageModel, type MessageRecord } from './message.model.js';
import type { Message } from './messages.schemas.js';

/** What is stored of a reply that its message is told of. */
type Reply = Pick<MessageRecord, 'channelId' | 'replyToId'>;

export type Replies = ReturnType<typeof createReplies>;

const REPLY_EVENTS = ['message.created', 'message.deleted', 'message.restored'];
/** The count is another with each of these versions of the reply. */
const countedBy = ({ id, version }: ChangedRecord): ChangedRecord => ({ id: `${id} reply`, version });

/**
 * Replies to messages (decisions C3). They are counted when a message is read, so that no count can differ from the replies; only
 * those of messages that are marked, which costs others nothing.
 */
export function createReplies({ storage, teller }: { storage: Storage; teller: ChangeTeller }) {
  const Messages = storage.model(messageModel);
  const { collection } = Messages;

  const changeOf = (replyToId: string, changed: ChangedRecord): Change => ({
    record: countedBy(changed),
    changed: { kind: 'message', recordId: replyToId },
  });

  const numberLate = (events: readonly ToldEvent[]) =>
    teller.numberLate(
      events.flatMap(({ subject: { id }, version, state }) => {
        const { channelId, replyToId } = state as unknown as Reply;
        return replyToId ? { channelId, ...changeOf(replyToId, { id, version }) } : [];
      }),
    );
  storage.events.beforeCleared(REPLY_EVENTS, numberLate, { 'state.replyToId': { $type: 'string' } });

  return {
    /** Marks a message as one that is replied to. @returns whether it is a living one of the channel */
    async mark(channelId: string, messageId: string): Promise<boolean> {
      const living = { _id: messageId, channelId, deletedAt: null } as object;
      return (await collection.updateOne(living, { $set: { replied: true } })).matchedCount > 0;
    },

    /** Counts the replies of marked messages, with one query, if there are any. */
    async addCounts(messages: readonly Message[]): Promise<void> {
      const marked = messages.filter(({ replyCount }) => replyCount > 0);
      if (marked.length === 0) return;
      const replies = { replyToId: { $in: marked.map(({ id }) => id) }, deletedAt: null };
      const counted = [{ $match: replies }, { $group: { _id: '$replyToId', count: { $sum: 1 } } }];
      const found = await collection.aggregate<{ _id: string; count: number }>(counted).toArray();
      const counts = new Map(found.map(({ _id, count }) => [_id, count]));
      for (const message of marked) message.replyCount = counts.get(message.id) ?? 0;
    },

    /** Tells the readers of a channel that a message has another count. Should the store fail now, the event log sees to it. */
    async tell({ channelId, replyToId }: Reply, changed: ChangedRecord): Promise<void> {
      if (typeof replyToId === 'string') await teller.number(channelId, [changeOf(replyToId, changed)]).catch(() => {});
    },
  };
}
