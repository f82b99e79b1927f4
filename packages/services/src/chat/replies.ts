import type { Storage, ToldEvent } from '@tandem/storage';
import type { Change, ChangedRecord, ChangeTeller } from './change-teller.js';
import { messageModel, type KeptReplies, type MessageRecord } from './message.model.js';
import type { Message } from './messages.schemas.js';

/** What is stored of a reply that its message is told of. */
type Reply = Pick<MessageRecord, 'channelId' | 'replyToId'>;

export type Replies = ReturnType<typeof createReplies>;

const REPLY_EVENTS = ['message.created', 'message.deleted', 'message.restored'];
/** So many replies to a message are counted at each read. Where there are more, the count up to the last of them is kept. */
const COUNTED_MAX = 1000;

/** The count is another with each of these versions of the reply. */
const countedBy = ({ id, version }: ChangedRecord): ChangedRecord => ({ id: `${id} reply`, version });

/**
 * Replies to messages (decisions C3). They are counted when a message is read, so that no count can differ from the replies; only
 * those of messages that are marked, which costs others nothing. A count that is kept of many holds until one of them is deleted or
 * restored: whoever does so drops it, else the event log; what was being counted then is not kept.
 */
export function createReplies({ storage, teller }: { storage: Storage; teller: ChangeTeller }) {
  const Messages = storage.model(messageModel);
  const { collection } = Messages;

  const changeOf = (replyToId: string, changed: ChangedRecord): Change => ({
    record: countedBy(changed),
    changed: { kind: 'message', recordId: replyToId },
  });

  /** Drops the counts that are kept of messages. */
  async function forget(messageIds: readonly string[]): Promise<void> {
    const drop = { $inc: { 'replies.mark': 1 }, $unset: { 'replies.count': '', 'replies.seq': '' } };
    if (messageIds.length > 0) await collection.updateMany({ _id: { $in: messageIds } } as object, drop);
  }

  /** Keeps a count, unless a reply has been deleted or restored since `mark` was read. Whoever reads next may do it as well. */
  async function keep(messageId: string, { mark, count, seq }: Required<KeptReplies>): Promise<void> {
    const same = { _id: messageId, 'replies.mark': mark } as object;
    const $set = { 'replies.count': count, 'replies.seq': seq };
    await collection.updateOne(same, { $set }).catch(() => {});
  }

  async function numberLate(events: readonly ToldEvent[]): Promise<void> {
    const changed = events.filter(({ type }) => type !== 'message.created');
    await forget(changed.flatMap(({ state }) => (state as unknown as Reply).replyToId ?? []));
    await teller.numberLate(
      events.flatMap(({ subject: { id }, version, state }) => {
        const { channelId, replyToId } = state as unknown as Reply;
        return replyToId ? { channelId, ...changeOf(replyToId, { id, version }) } : [];
      }),
    );
  }
  async function keptOf(messageIds: readonly string[]): Promise<Map<string, KeptReplies>> {
    const found = await collection.find({ _id: { $in: messageIds } } as object, { projection: { replies: 1 } }).toArray();
    return new Map((found as unknown as MessageRecord[]).map(({ _id, replies = { mark: 0 } }) => [_id, replies]));
  }

  async function tell({ channelId, replyToId }: Reply, changed: ChangedRecord): Promise<void> {
    if (typeof replyToId === 'string') await teller.number(channelId, [changeOf(replyToId, changed)]).catch(() => {});
  }
  storage.events.beforeCleared(REPLY_EVENTS, numberLate, 'replyToId');

  return {
    /** Marks a message as one that is replied to. @returns whether it is a living one of the channel */
    async mark(channelId: string, messageId: string): Promise<boolean> {
      const living = { _id: messageId, channelId, deletedAt: null } as object;
      return (await collection.updateOne(living, { $max: { 'replies.mark': 0 } })).matchedCount > 0;
    },

    /** Counts the replies of marked messages, if there are any, with one query after that of what is kept. */
    async addCounts(messages: readonly Message[]): Promise<void> {
      const marked = messages.filter(({ replyCount }) => replyCount > 0);
      if (marked.length === 0) return;
      const kept = await keptOf(marked.map(({ id }) => id));
      const after = ({ id }: Message) => ({ replyToId: id, ...(kept.get(id)?.seq && { seq: { $gt: kept.get(id)?.seq } }) });
      const counted = { _id: '$replyToId', count: { $sum: 1 }, seq: { $max: '$seq' } };
      const later = [{ $match: { $or: marked.map(after), deletedAt: null } }, { $group: counted }];
      const found = await collection.aggregate<{ _id: string; count: number; seq: number }>(later).toArray();
      const counts = new Map(found.map((one) => [one._id, one]));
      for (const message of marked) {
        const { mark, count = 0 } = kept.get(message.id) ?? { mark: 0 };
        const more = counts.get(message.id);
        message.replyCount = count + (more?.count ?? 0);
        if (more && more.count > COUNTED_MAX) await keep(message.id, { mark, count: message.replyCount, seq: more.seq });
      }
    },

    /** Tells the readers of a channel that a message has another reply. Should the store fail now, the event log sees to it. */
    tellPosted: (reply: MessageRecord): Promise<void> => tell(reply, { id: reply._id, version: 1 }),

    /** The same of one that was deleted or restored. */
    async tellChanged(reply: Reply, changed: ChangedRecord): Promise<void> {
      if (typeof reply.replyToId === 'string') await forget([reply.replyToId]).catch(() => {});
      await tell(reply, changed);
    },
  };
}
