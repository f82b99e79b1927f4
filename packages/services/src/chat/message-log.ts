import { MAJORITY, isDuplicateKey, notOnMajority, type Storage } from '@tandem/storage';
import { LRUCache } from 'lru-cache';
import { messageModel, type MessageRecord } from './message.model.js';

/** Messages stored by one write at most. */
const BATCH_MAX = 100;
/** Channels whose last number is remembered. */
const REMEMBERED_MAX = 10_000;

/** Messages that have a number: one that a host stored with something else, which may sort above all numbers, counts as none. */
export const NUMBERED = { seq: { $gt: 0 } } as const;

type Unnumbered = Omit<MessageRecord, 'seq'>;

interface Waiting {
  message: Unnumbered;
  resolve(stored: MessageRecord): void;
  reject(error: unknown): void;
}

/**
 * Appends messages to channels (decisions S3). No number is ever taken without its message: a message is written under the number after the
 * last one that is stored, and the unique index refuses it where another was there first; then it is tried under the next. So when a reader
 * sees a number, everything below it has been stored before, and nothing lower appears later, whatever process dies or stalls: replay reads
 * upwards and never waits for a hole to fill.
 *
 * The messages of a process stand in one line for each channel and are written together, so that only processes compete for a number.
 */
export function createMessageLog(storage: Storage) {
  const { collection } = storage.model(messageModel);
  const lines = new Map<string, Waiting[]>();
  /** What was seen last; another instance may have gone on since, which costs a try. */
  const remembered = new LRUCache<string, number>({ max: REMEMBERED_MAX });

  /** The number of the last message of a channel, deleted ones included; 0 before the first. */
  async function lastSeq(channelId: string, concern?: typeof MAJORITY): Promise<number> {
    const newest = { sort: { seq: -1 }, projection: { _id: 0, seq: 1 }, ...concern } as const;
    const last = await collection.findOne({ channelId, ...NUMBERED } as object, newest);
    return (last as unknown as Pick<MessageRecord, 'seq'> | null)?.seq ?? 0;
  }

  /** @returns how many of them are stored, in their order, and which index refused the next one */
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

  /** The message that a client has sent before under the same name. @throws notOnMajority while a failover could still lose it */
  async function findTwin({ channelId, senderId, clientId }: Unnumbered): Promise<MessageRecord> {
    const twin = await collection.findOne({ channelId, senderId, clientId } as object, MAJORITY);
    if (!twin) throw notOnMajority('a message that was refused as stored');
    return twin as unknown as MessageRecord;
  }

  /** Stores these, and settles each when it is. @throws what the store throws: those left in `batch` may be stored or not */
  async function store(channelId: string, batch: Waiting[]): Promise<void> {
    let last = remembered.get(channelId) ?? (await lastSeq(channelId));
    while (batch.length > 0) {
      const records = batch.map(({ message }, at) => ({ ...message, seq: last + 1 + at }));
      const { stored, refusedBy } = await insert(records);
      last += stored;
      for (const [at, { resolve }] of batch.splice(0, stored).entries()) resolve(records[at] as MessageRecord);
      const [refused] = batch;
      if (!refused) break;
      if (refusedBy?.includes('clientId')) {
        refused.resolve(await findTwin(refused.message));
        batch.shift();
      } else if (refusedBy?.includes('seq')) last = await lastSeq(channelId);
      else throw new Error('a message was refused by an index that it has nothing to do with');
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
    /** The number of the last message that no failover takes back, to be told to readers: they go on from it. */
    lastSeq: (channelId: string) => lastSeq(channelId, MAJORITY),

    /** Stores a message under the next number of its channel; one that its client has sent before is answered as it was stored. */
    append: (message: Unnumbered): Promise<MessageRecord> =>
      new Promise((resolve, reject) => {
        const waiting = { message, resolve, reject };
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
