import { randomUUID } from 'node:crypto';
import mongoose, { type mongo } from 'mongoose';
import { leaseFor, takeLease, timeInStore, type Clock } from './clock.js';
import { followBatch, type Following, type Lacks } from './before-cleared.js';
import { firstIdAt, idAfter } from './event-ids.js';
import { BEFORE_ALL, BESIDE, LOG_STATE, type Cleared, type LoggedEvent, type LogState, type PendingEvent } from './event-log.js';
import { isDuplicateKey } from './failures.js';
import { clearing, toldBy, withState } from './told-changes.js';
import { TRACE, type Traced } from './traces.js';
import { createWaitingChanges, type Waiting } from './waiting-changes.js';

/** How long a process may append without renewing its lease, in milliseconds. */
const LEASE_MS = 10_000;
/** The bytes of changes, without states, that are appended at once. */
const BATCH_BYTES = 1024 * 1024;
/** How often old events are removed, in milliseconds, and how many at once. */
const TRIM_MS = 60_000;
const TRIM_MAX = 1000;

type StoredBatch = Pick<LogState, 'batch' | 'cleared' | 'lastId'>;

interface RelayOptions {
  database: mongo.Db;
  clock: Clock;
  /** The collections whose changes are told, with how. */
  traced(): ReadonlyMap<string, Traced>;
  /** What runs when a batch has been appended. */
  beforeCleared: readonly Following[];
  /** How long an event is kept, in milliseconds. */
  retentionMs(): number;
  maxTimeMS: number;
}

/** The lease has been lost: another process appends. */
class Overtaken extends Error {}

/**
 * Appends to the log what waits in records, in one process at a time. No event is lost or told twice, whenever a process
 * dies: the events of a batch and their ids are stored first, in the state of the log; then appended, by a command in
 * which the store copies them only for who holds the lease, each with its state from the record; then shown, then
 * cleared in the records. Who takes the lease over finishes a batch that it finds. States do not pass through here.
 */
export function createEventRelay({ database, clock, traced, beforeCleared, retentionMs, maxTimeMS }: RelayOptions) {
  const owner = randomUUID();
  const states = database.collection<LogState>('eventLog');
  const events = database.collection<LoggedEvent>('events');
  const options = { maxTimeMS, ...BESIDE };
  const asked = () => beforeCleared.flatMap((one) => ('having' in one && one.having ? one.having : []));
  const waiting = createWaitingChanges({ database, traced, asked, options });
  let trimmedAt = 0;
  /** How this process has left the log; undefined if it was not the last to append, or has not finished. */
  let left: Pick<LogState, 'lastId' | 'batch'> | undefined;

  const own = { _id: LOG_STATE, owner };
  const held = { ...own, $expr: { $lt: [timeInStore(clock), '$leaseUntil'] } };

  /** @returns the state of the log, undefined while another process appends */
  async function take(): Promise<LogState | undefined> {
    const lease = takeLease(clock, owner, LEASE_MS);
    const write = () =>
      states.findOneAndUpdate({ _id: LOG_STATE }, [{ $set: lease }], { upsert: true, returnDocument: 'after', ...options });
    const state = await write().catch((error: unknown) => {
      // another process has just made it
      if (!isDuplicateKey(error)) throw error;
    });
    return state?.owner === owner ? state : undefined;
  }

  /** The events of records, and what to clear when they are in the log; at least those of the first record. */
  async function batchOf(records: readonly Waiting[], lastId: string) {
    const organizationOf = await waiting.organizationsOf(records);
    const told: Omit<PendingEvent, '_id'>[] = [];
    const cleared: Cleared[] = [];
    let bytes = 0;
    for (const record of records) {
      const { [TRACE]: trace } = record;
      const { collection } = trace;
      const settings = traced().get(collection) as Traced;
      const organizationId = organizationOf(record);
      let latest = 0;
      for (const entry of trace.events) {
        // the order of a record is that of its changes, whatever the clocks of their processes say
        latest = Math.max(latest, entry.at.getTime());
        const at = new Date(latest);
        for (const one of toldBy(settings, record._id, entry)) told.push({ at, organizationId, actor: entry.actor, ...one });
      }
      const [last, isRemoved] = [trace.events.at(-1), trace.isRemoved];
      // one that has nothing to tell stops waiting, too: else such records would fill every batch
      cleared.push({ collection, id: record._id, version: last?.version ?? 0, ...(isRemoved && { isRemoved }) });
      bytes += mongoose.mongo.BSON.calculateObjectSize(record);
      if (bytes > BATCH_BYTES) break;
    }
    let last = lastId;
    const batch = told
      .toSorted((one, other) => one.at.getTime() - other.at.getTime())
      .map((event): PendingEvent => ({ _id: (last = idAfter(last, clock)), ...event }));
    const keyOf = (kind: string | undefined, id: string) => `${kind} ${id}`;
    const lacking = new Map(
      records.map(({ _id, [TRACE]: { collection, lacks } }) => [keyOf(traced().get(collection)?.kind, _id), lacks]),
    );
    const lacks: Lacks = ({ subject: { type, id } }, field) => lacking.get(keyOf(type, id))?.includes(field) ?? false;
    return { stored: { batch, cleared, lastId: last }, lacks };
  }

  /** @param holder finds the state while this process may append @throws Overtaken */
  async function store(batch: StoredBatch, holder: object): Promise<void> {
    const set = Object.fromEntries(Object.entries(batch).map(([field, $literal]) => [field, { $literal }]));
    const { matchedCount } = await states.updateOne(holder, [{ $set: { ...set, ...leaseFor(clock, LEASE_MS) } }], options);
    if (matchedCount === 0) throw new Overtaken();
  }

  /** Copies the events of a stored batch to the log, while it is the one that `ofBatch` finds. Repeatable. */
  async function append(batch: readonly PendingEvent[], ofBatch: object): Promise<void> {
    const copy = async (...stages: object[]) => {
      const events = [{ $match: ofBatch }, { $unwind: '$batch' }, { $replaceWith: '$batch' }];
      await states.aggregate([...events, ...stages, INTO_LOG], options).toArray();
    };
    const kinds = new Set(batch.filter(({ version }) => version !== undefined).map(({ subject: { type } }) => type));
    for (const [collection, settings] of traced())
      if (kinds.delete(settings.kind)) await copy(...withState(collection, settings));
    if (kinds.size > 0) throw new Error(`this process has no model of ${[...kinds].join(', ')}, of which events wait`);
    if (batch.some(({ state }) => state)) await copy({ $match: { state: { $exists: true } } });
  }

  /** Appends a stored batch, shows it and clears what it was made of. Repeatable. @throws Overtaken */
  async function finish({ batch = [], lastId = BEFORE_ALL, cleared = [] }: StoredBatch, lacks?: Lacks): Promise<void> {
    // a batch that was stored late is not this one
    const ofBatch = { ...held, lastId };
    await append(batch, ofBatch);
    const { matchedCount } = await states.updateOne(ofBatch, [{ $set: { head: lastId, ...leaseFor(clock, LEASE_MS) } }], options);
    if (matchedCount === 0) throw new Overtaken();
    const read = (filter: object) => events.find(filter, { sort: { _id: 1 }, ...options }).toArray();
    await followBatch(batch, { followings: beforeCleared, read, lacks });
    for (const [collection, ofOne] of groupBy(cleared, ({ collection: name }) => name)) {
      const clears = [...groupBy(ofOne, ({ version }) => version)].map(([version, some]) => {
        // an erasure may have left a record without a trace meanwhile
        const filter = { _id: { $in: some.map(({ id }) => id) }, [`${TRACE}.events`]: { $type: 'array' } };
        return { updateMany: { filter, update: clearing(version) } };
      });
      await database.collection<{ _id: string }>(collection).bulkWrite(clears, { ordered: false, ...options });
      const removed = ofOne.filter(({ isRemoved }) => isRemoved).map(({ id }) => id);
      const shells = { _id: { $in: removed }, [`${TRACE}.isRemoved`]: true, [`${TRACE}.events`]: [] } as object;
      if (removed.length > 0) await database.collection(collection).deleteMany(shells, options);
    }
  }

  const isTrimDue = () => Math.abs(clock.now().getTime() - trimmedAt) >= TRIM_MS;

  /** One pass. @returns the id of the last event if it has appended any; undefined while another process appends */
  async function relay(): Promise<{ last: string | undefined } | undefined> {
    // who was the last to append need not ask for the lease: to store a batch renews it, unless another process has taken it;
    // but old events go also while nothing is written
    const unasked = isTrimDue() ? undefined : left;
    left = undefined;
    const taken = unasked ? undefined : await take();
    const state = unasked ?? taken;
    if (!state) return undefined;
    let { lastId = BEFORE_ALL } = state;
    let [isHeld, last]: [boolean, string | undefined] = [!unasked, undefined];
    try {
      if (state.batch) await finish(state);
      let passed: readonly string[] = [];
      for (;;) {
        const { isFull, records, heldBackBy } = await waiting.tellable(passed);
        const { stored, lacks } = await batchOf(records, lastId);
        if (stored.cleared.length > 0) {
          await store(stored, isHeld ? held : own);
          isHeld = true;
          last = lastId = stored.lastId;
          await finish(stored, lacks);
        }
        if (stored.cleared.length === records.length && !isFull) break;
        // what is told in part is cleared of that, so that the change of such a unit is its first
        passed = heldBackBy;
      }
      if (isHeld) {
        if (taken) await trim(taken.leaseUntil.getTime() - LEASE_MS);
        await states.updateOne(own, [{ $set: { leaseUntil: timeInStore(clock) } }, { $unset: ['batch', 'cleared'] }], options);
      }
      left = { lastId };
      return { last };
    } catch (error) {
      if (error instanceof Overtaken) return isHeld ? undefined : relay();
      // another process may be able to
      await states.updateOne(own, [{ $set: { leaseUntil: timeInStore(clock) } }], options).catch(() => {});
      throw error;
    }
  }

  /**
   * Removes the events that are older than they are kept, some in each pass; says first up to which one.
   * @param now the store's time: a process whose clock is ahead must not remove what others still need
   * @throws Overtaken
   */
  async function trim(now: number): Promise<void> {
    if (!isTrimDue()) return;
    const old = { _id: { $lt: firstIdAt(now - retentionMs()) } };
    const some = await events.find(old, { sort: { _id: 1 }, limit: TRIM_MAX, projection: { _id: 1 }, ...options }).toArray();
    const last = some.at(-1);
    if (last) {
      const { matchedCount } = await states.updateOne(own, { $set: { removedUpTo: last._id } }, options);
      if (matchedCount === 0) throw new Overtaken();
      await events.deleteMany({ _id: { $lte: last._id } }, options);
    }
    if (some.length < TRIM_MAX) trimmedAt = clock.now().getTime();
  }

  return { relay, events, states };
}

const INTO_LOG = { $merge: { into: 'events', whenMatched: 'keepExisting' } };

function groupBy<Key>(cleared: readonly Cleared[], keyOf: (one: Cleared) => Key): Map<Key, Cleared[]> {
  const groups = new Map<Key, Cleared[]>();
  for (const one of cleared) {
    const key = keyOf(one);
    const group = groups.get(key);
    if (group) group.push(one);
    else groups.set(key, [one]);
  }
  return groups;
}
