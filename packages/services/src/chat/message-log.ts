import { atMost } from '@tandem/core';
import { MAJORITY, NO_EVENTS, TRACE, notOnMajority, textIn, traceOfNew, type Storage, type Traced } from '@tandem/storage';
import { LRUCache } from 'lru-cache';
import { createMessageInserts } from './message-inserts.js';
import { messageModel, type MessageRecord } from './message.model.js';
import type { ReactionChange } from './reaction.model.js';
import type { ChannelRole } from './subscriptions.schemas.js';

/** Maximum number of records per write. */
const BATCH_MAX = 100;
/** Maximum number of channels whose end is cached. */
const REMEMBERED_MAX = 10_000;
/**
 * How long an end is cached, in milliseconds. Others may have appended meanwhile; once what they appended and deleted has gone
 * for good, no index would refuse its number.
 */
const REMEMBERED_MS = 60_000;

/** A record but the earlier texts of a message. */
const WHOLE = { versions: 0 } as const;

/** Matches numbered messages only. A host may have stored `seq` as another type, which could sort above all numbers. */
export const NUMBERED = { seq: { $gt: 0 } } as const;

/** The end of a channel: the numbers of its last message and its last change, 0 before the first. */
export interface End {
  seq: number;
  change: number;
}

/**
 * What has changed: a message (by default the record that was changed), the channel, whether a message is pinned, or what
 * somebody is or does there. How it is now, readers look up.
 */
export type Changed =
  | { kind: 'message' | 'channel'; recordId?: string }
  | { kind: 'pin'; recordId: string; identityId: string }
  // one from before there were roles has none
  | { kind: 'subscription'; type: SubscriptionChange; identityId: string; role?: ChannelRole }
  | { kind: 'reaction'; type: ReactionChange; messageId: string; key: string; identityId: string };
export type SubscriptionChange = `subscription.${'created' | 'updated' | 'deleted'}`;

/**
 * A lasting change of a channel that is no post (decisions C1). It lies among the messages, because one index numbers both; it is
 * no message: deleted from the start, with a negative `seq`.
 */
export type ChangeRecord = Changed & {
  /** The changed record and its version, so that each change is numbered once. */
  _id: string;
  channelId: string;
  change: number;
  seq: number;
  /** The number of the last message before it. */
  lastSeq: number;
  recordId: string;
  /** The number of the message that it tells of, once that has gone for good. */
  goneSeq?: number;
  createdAt: Date;
  updatedAt: Date;
  deletedAt: Date;
};

export type LogRecord = MessageRecord | ChangeRecord;
export const isChange = (record: LogRecord): record is ChangeRecord => 'recordId' in record;

/** A change that has its number. */
export interface Noted {
  record: ChangeRecord;
  /** The moment since which this process has known that the number before it was taken. */
  since: number;
}

type Unnumbered = Omit<MessageRecord, 'seq' | 'change'>;
/** What identifies a message of a client. */
export type Sent = Pick<MessageRecord, 'channelId' | 'senderId' | 'clientId'>;
type UnnumberedChange = Changed & Omit<ChangeRecord, 'seq' | 'change' | 'lastSeq' | keyof Changed>;
const traced = messageModel.traced as Traced;

/** A record that waits for its numbers. */
interface Waiting {
  record: Unnumbered | UnnumberedChange;
  trace: object;
  /** @param since see `Noted` */
  resolve(stored: LogRecord, since: number): void;
  reject(error: unknown): void;
}

/** Maximum number of messages that a process remembers having announced; it forgets them all beyond. */
const ANNOUNCED_MAX = 10_000;

/**
 * Appends messages and other changes to channels (decisions S3, C1). A record is inserted under the number after the last stored
 * one. If another has taken that number, the unique index refuses the insert, and the next number is tried. So a number never
 * exists without its record: when a reader sees a number, all lower ones are stored already and none appears later, whichever
 * process dies or stalls. Replay reads upwards and never waits for a gap to fill.
 *
 * Each process queues its records by channel and writes them in batches, so that only processes compete for a number.
 */
export function createMessageLog(storage: Storage) {
  const messages = storage.model(messageModel);
  const { collection } = messages;
  const inserts = createMessageInserts(messages);
  const lines = new Map<string, Waiting[]>();
  /** The last numbers seen. If another instance has appended since, the insert is refused and retried. */
  const remembered = new LRUCache<string, End & { since: number; at: number }>(atMost(REMEMBERED_MAX));
  /** Counts what this process learns of ends. */
  let moment = 0;
  /** Messages that this process has announced, until their events stand in the log. */
  const announced = new Set<string>();

  async function newest(filter: object, sort: Record<string, -1>, concern?: typeof MAJORITY) {
    const projection = { _id: 0, seq: 1, change: 1, lastSeq: 1 };
    const found = await collection.findOne(filter, { sort, projection, ...concern });
    return found as unknown as (Pick<MessageRecord, 'seq' | 'change'> & Partial<Pick<ChangeRecord, 'lastSeq'>>) | null;
  }
  const newestMessage = (channelId: string, concern?: typeof MAJORITY) =>
    newest({ channelId, ...NUMBERED }, { seq: -1 }, concern);

  /** Both numbers as they were at one moment. */
  async function endOf(channelId: string, concern?: typeof MAJORITY): Promise<End> {
    const changed = await newest({ channelId, change: { $gt: 0 } }, { change: -1 }, concern);
    const seq = changed?.lastSeq ?? changed?.seq;
    if (typeof seq === 'number') return { seq, change: changed?.change ?? 0 };
    const last = await newestMessage(channelId, concern);
    return { seq: last?.seq ?? 0, change: changed?.change ?? last?.change ?? 0 };
  }

  /** The same after a refusal; also when somebody has stored messages that are no numbered changes. */
  async function endAfterRefusal(channelId: string): Promise<End> {
    const [{ seq, change }, last] = await Promise.all([endOf(channelId), newestMessage(channelId)]);
    return { seq: Math.max(seq, last?.seq ?? 0), change };
  }

  /** Gives records the numbers after the last ones. */
  function numbered(batch: readonly Waiting[], { seq, change }: End): LogRecord[] {
    let lastSeq = seq;
    return batch.map(({ record }, at) => {
      const own = change + 1 + at;
      if ('kind' in record) return { ...record, seq: -own, change: own, lastSeq };
      lastSeq += 1;
      return { ...record, seq: lastSeq, change: own };
    });
  }

  /** The stored record that refused another one. @throws notOnMajority while a failover could still roll it back */
  async function findTwin(filter: object): Promise<LogRecord> {
    const twin = await collection.findOne(filter, { projection: WHOLE, ...MAJORITY });
    if (!twin) throw notOnMajority('a message that was refused as stored');
    return twin as unknown as LogRecord;
  }

  /**
   * Stores a batch and settles each record once it is stored. @throws what the store throws; records left in `batch` may or may
   * not be stored
   */
  async function store(channelId: string, batch: Waiting[]): Promise<void> {
    const learned = (end: End) => ({ ...end, since: ++moment });
    const now = storage.clock.now().getTime();
    const known = remembered.get(channelId);
    let last: ReturnType<typeof learned> = known && now - known.at < REMEMBERED_MS ? known : learned(await endOf(channelId));
    while (batch.length > 0) {
      const records = numbered(batch, last);
      const written = records.map((record, at) => ({ ...record, [TRACE]: batch[at]?.trace }));
      const { stored, refusedBy } = await (written.length === 1 ? inserts.one(written[0] as object) : inserts.inOrder(written));
      const inserted = records.slice(0, stored);
      const { since } = last;
      const seq = inserted.findLast((record) => !isChange(record))?.seq ?? last.seq;
      last = learned({ change: last.change + stored, seq });
      for (const [at, { resolve }] of batch.splice(0, stored).entries())
        resolve(inserted[at] as LogRecord, at === 0 ? since : last.since);
      const [refused] = batch;
      if (!refused) break;
      const { record } = refused;
      if (refusedBy === '_id_') {
        refused.resolve(await findTwin({ _id: record._id }), Infinity);
        batch.shift();
      } else if (refusedBy?.includes('clientId') && !('kind' in record)) {
        const { senderId, clientId } = record;
        refused.resolve(await findTwin({ channelId, senderId, clientId: textIn([clientId ?? '']) }), Infinity);
        batch.shift();
      } else if (refusedBy?.includes('seq') || refusedBy?.includes('change')) last = learned(await endAfterRefusal(channelId));
      else throw new Error('a message was refused by an unexpected index');
    }
    remembered.set(channelId, { ...last, at: now });
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

  function append(record: Unnumbered | UnnumberedChange, trace: object): Promise<{ record: LogRecord; since: number }> {
    return new Promise((settle, reject) => {
      const resolve = (stored: LogRecord, since: number) => settle({ record: stored, since });
      const waiting = { record, trace, resolve, reject };
      const line = lines.get(record.channelId);
      if (line) line.push(waiting);
      else {
        const own = [waiting];
        lines.set(record.channelId, own);
        void work(record.channelId, own);
      }
    });
  }

  return {
    /** The number of the last message that a failover cannot roll back, because readers resume from it. */
    lastSeq: async (channelId: string) => (await newestMessage(channelId, MAJORITY))?.seq ?? 0,

    /** The end of a channel, likewise. */
    endOf: (channelId: string) => endOf(channelId, MAJORITY),

    /**
     * Stores a message under the next numbers of its channel. Resolves to the stored one of its client's or its own id, if it was
     * sent before.
     */
    async append(message: Unnumbered): Promise<MessageRecord> {
      // written with others': each has its own author
      const { record } = await append(message, traceOfNew(message, message.createdAt, traced));
      return record as MessageRecord;
    },

    /** Now, for `Noted.since`. */
    moment: () => moment,

    /** Whether there is a message, deleted or not. */
    async has(messageId: string): Promise<boolean> {
      return (await collection.findOne({ _id: messageId } as object, { projection: { _id: 1 }, ...MAJORITY })) !== null;
    },

    /** The message that a client has sent before, deleted or not. */
    async sent({ channelId, senderId, clientId }: Sent): Promise<MessageRecord | null> {
      if (clientId === null) return null;
      const found = await collection.findOne({ channelId, senderId, clientId: textIn([clientId]) } as object, MAJORITY);
      return found as unknown as MessageRecord | null;
    },

    /** Numbers a change of a record, once for each of its versions. */
    async note(channelId: string, { id, version }: { id: string; version: number }, changed: Changed): Promise<Noted> {
      const now = storage.clock.now();
      const times = { createdAt: now, updatedAt: now, deletedAt: now };
      const record = { _id: `${id} ${version}`, channelId, recordId: id, ...changed, ...times };
      return (await append(record, NO_EVENTS)) as Noted;
    },

    /** The messages and changes after a number, upwards, deleted ones included. Read with majority concern, like the end. */
    async after(channelId: string, change: number, limit: number): Promise<LogRecord[]> {
      const after = { channelId, change: { $gt: change } } as object;
      const found = await collection.find(after, { sort: { change: 1 }, limit, projection: WHOLE, ...MAJORITY }).toArray();
      return found as unknown as LogRecord[];
    },

    /** The numbers of those changes, named by record and version, that have one. */
    async noted(ids: readonly string[]): Promise<Map<string, number>> {
      const found = await collection.find({ _id: { $in: ids } } as object, { projection: { change: 1 }, ...MAJORITY }).toArray();
      return new Map((found as unknown as ChangeRecord[]).map(({ _id, change }) => [_id, change]));
    },

    announced(messageId: string): void {
      if (announced.size >= ANNOUNCED_MAX) announced.clear();
      announced.add(messageId);
    },

    /**
     * The ends that these messages are, at least, of their channels; without those that this process has announced. Asked when
     * their events stand in the log.
     */
    async endsOfUnannounced(messageIds: readonly string[]): Promise<Map<string, End>> {
      const ids = messageIds.filter((id) => !announced.delete(id));
      if (ids.length === 0) return new Map();
      const fields = { _id: 0, channelId: 1, seq: 1, change: 1 };
      const found = await collection.find({ _id: { $in: ids } } as object, { projection: fields, ...MAJORITY }).toArray();
      const ends = new Map<string, End>();
      for (const { channelId, seq, change = 0 } of found as unknown as MessageRecord[]) {
        const end = ends.get(channelId);
        if (!end || end.seq < seq) ends.set(channelId, { seq, change });
      }
      return ends;
    },
  };
}
export type MessageLog = ReturnType<typeof createMessageLog>;
