import type { Storage, ToldEvent } from '@tandem/storage';
import type { ChangedRecord, ChangeTeller } from './change-teller.js';
import type { MessageLog } from './message-log.js';
import { messageModel, type MessageRecord } from './message.model.js';
import type { Message } from './messages.schemas.js';
import type { SentMessage } from './chat-events.js';

/** What is stored of a reply that its message is told of. */
type Reply = Pick<MessageRecord, 'channelId' | 'replyToId'>;
type Shown = (records: readonly MessageRecord[]) => Promise<Map<string, SentMessage>>;

export type Replies = ReturnType<typeof createReplies>;

const REPLY_EVENTS = ['message.created', 'message.deleted', 'message.restored'];
/** The count is another with each of these versions of the reply. */
const countedBy = ({ id, version }: ChangedRecord): ChangedRecord => ({ id: `${id} reply`, version });

/**
 * Replies to messages (decisions C3). They are counted when a message is read, so that no count can differ from the replies; only
 * those of messages that are marked, which costs others nothing.
 */
export function createReplies({ storage, log, teller }: { storage: Storage; log: MessageLog; teller: ChangeTeller }) {
  const Messages = storage.model(messageModel);
  const { collection } = Messages;
  let shown: Shown = () => Promise.resolve(new Map());

  /** Numbers a change of a count and tells it, while there is the message. */
  async function number({ channelId, replyToId }: Reply, changed: ChangedRecord): Promise<void> {
    if (typeof replyToId !== 'string') return;
    await teller.numberWhole(channelId, countedBy(changed), { kind: 'message', recordId: replyToId }, async () => {
      const message = (await shown(await Messages.find({ _id: replyToId }).lean<MessageRecord[]>())).get(replyToId);
      return message && { type: 'message.updated', channelId, message };
    });
  }

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
    tell: (reply: Reply, changed: ChangedRecord): Promise<void> => number(reply, changed).catch(() => {}),

    /** Numbers what a process did not before it died. @param show how readers of streams see messages */
    follow(show: Shown): void {
      shown = show;
      const changedBy = ({ subject: { id }, version }: ToldEvent): ChangedRecord => ({ id, version });
      const idOf = ({ id, version }: ChangedRecord) => `${id} ${version}`;
      const run = async (events: readonly ToldEvent[]) => {
        const noted = await log.noted(events.map((event) => idOf(countedBy(changedBy(event)))));
        for (const event of events)
          if (!noted.has(idOf(countedBy(changedBy(event))))) await number(event.state as unknown as Reply, changedBy(event));
      };
      storage.events.beforeCleared(REPLY_EVENTS, run, { 'state.replyToId': { $type: 'string' } });
    },
  };
}
