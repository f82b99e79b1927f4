import { MAJORITY, TRACE, isDuplicateKey, notOnMajority, traceOfNew, type Storage, type Traced } from '@tandem/storage';
import { LRUCache } from 'lru-cache';
import { messageModel, type MessageRecord } from './message.model.js';

/** Maximum number of messages per write. */
const BATCH_MAX = 100;
/** Maximum number of channels whose last number is cached. */
const REMEMBERED_MAX = 10_000;

/** Matches numbered messages only. A host may have stored `seq` as another type, which could sort above all numbers. */
export const NUMBERED = { seq: { $gt: 0 } } as const;

type Unnumbered = Omit<MessageRecord, 'seq'>;
const traced = messageModel.traced as Traced;

interface Waiting {
  message: Unnumbered;
  trace: object;
  resolve(stored: MessageRecord): void;
  reject(error: unknown): void;
}

/**
 * Appends messages to channels (decisions S3). A message is inserted under the number after the last stored one. If another
 * message has taken that number, the unique index refuses the insert, and the next number is tried. So a number never exists
 * without its message: when a reader sees a number, all lower ones are stored already and none appears later, whichever process
 * dies or stalls. Replay reads upwards and never waits for a gap to fill.
 *
 * Each process queues its messages by channel and writes them in batches, so that only processes compete for a number.
 */
export function createMessageLog(storage: Storage) {
  const { collection } = storage.model(messageModel);
  const lines = new Map<string, Waiting[]>();
  /** The last numbers seen. If another instance has appended since, the insert is refused and retried. */
  const remembered = new LRUCache<string, number>({ max: REMEMBERED_MAX });

  /** The number of a channel's last message, deleted ones included; 0 before the first. */
  async function lastSeq(channelId: string, concern?: typeof MAJORITY): Promise<number> {
    const newest = { sort: { seq: -1 }, projection: { _id: 0, seq: 1 }, ...concern } as const;
    const last = await collection.findOne({ channelId, ...NUMBERED } as object, newest);
    return (last as unknown as Pick<MessageRecord, 'seq'> | null)?.seq ?? 0;
  }

  /** @returns how many records are stored, from the first, and which index refused the next one */
  async function insert(records: MessageRecord[]): Promise<{ stored: number; refusedBy?: string | undefined }> {
    try {
      if (records.length === 1) await collection.insertOne(records[0] as never);
      else await collection.insertMany(records as never[], { ordered: true });
      return { stored: records.length };
    } catch (error) {
      const duplicate = isDuplicateKey(error);
      if (!duplicate) throw error;
      return { stored: (error as { insertedCount?: number }).insertedCount ?? 0, refusedBy: duplicate.index ?? '' };
    }
  }

  /** The stored message that refused another one. @throws notOnMajority while a failover could still roll it back */
  async function findTwin(filter: object): Promise<MessageRecord> {
    const twin = await collection.findOne(filter, MAJORITY);
    if (!twin) throw notOnMajority('a message that was refused as stored');
    return twin as unknown as MessageRecord;
  }

  /**
   * Stores a batch and settles each message once it is stored. @throws what the store throws; messages left in `batch` may or may
   * not be stored
   */
  async function store(channelId: string, batch: Waiting[]): Promise<void> {
    let last = remembered.get(channelId) ?? (await lastSeq(channelId));
    while (batch.length > 0) {
      const records = batch.map(({ message }, at) => ({ ...message, seq: last + 1 + at }));
      const { stored, refusedBy } = await insert(records.map((record, at) => ({ ...record, ...batch[at]?.trace })));
      last += stored;
      for (const [at, { resolve }] of batch.splice(0, stored).entries()) resolve(records[at] as MessageRecord);
      const [refused] = batch;
      if (!refused) break;
      const { _id, channelId: of, senderId, clientId } = refused.message;
      if (refusedBy?.includes('clientId')) {
        refused.resolve(await findTwin({ channelId: of, senderId, clientId }));
        batch.shift();
      } else if (refusedBy === '_id_') {
        refused.resolve(await findTwin({ _id }));
        batch.shift();
      } else if (refusedBy?.includes('seq')) last = await lastSeq(channelId);
      else throw new Error('a message was refused by an unexpected index');
    }
    remembered.set(channelId, last);
  }

  async function work(channelId: string, line: Waiting[]): Promise<void> {
    while (line.length > 0) {
      const batch = line.splice(0, BATCH_MAX);
      await store(channelId, batch).catch((error: unknown) => {
        remembered.delete(channelId);
        for (const { reject } of batch) reject(error);
      });
    }
    lines.delete(channelId);
  }

  return {
    /** The number of the last message that a failover cannot roll back, because readers resume from it. */
    lastSeq: (channelId: string) => lastSeq(channelId, MAJORITY),

    /** Stores a message under the next number of its channel. Resolves to the stored one of its client's or its own id, if it was sent before. */
    append: (message: Unnumbered): Promise<MessageRecord> =>
      new Promise((resolve, reject) => {
        // written with others': each has its own author
        const trace = { [TRACE]: traceOfNew(message, message.createdAt, traced) };
        const waiting = { message, trace, resolve, reject };
        const line = lines.get(message.channelId);
        if (line) line.push(waiting);
        else {
          const own = [waiting];
          lines.set(message.channelId, own);
          void work(message.channelId, own);
        }
      }),
  };
}
export type MessageLog = ReturnType<typeof createMessageLog>;
