import { randomUUID } from 'node:crypto';
import mongoose, { type mongo } from 'mongoose';
import { timeInStore, type Clock } from './clock.js';
import { followBatch, type Following } from './before-cleared.js';
import { firstIdAt, idAfter } from './event-ids.js';
import { BEFORE_ALL, BESIDE, LOG_STATE, type Cleared, type LoggedEvent, type LogState, type PendingEvent } from './event-log.js';
import { isDuplicateKey } from './failures.js';
import { clearing, organizationIn, toldBy, withState } from './told-changes.js';
import { TRACE, type TraceEntry, type Traced } from './traces.js';

/** How long a process may append without renewing its lease, in milliseconds. */
const LEASE_MS = 10_000;
/** Records whose changes are appended at once, and the bytes of these without states. */
const BATCH_RECORDS = 200;
const BATCH_BYTES = 1024 * 1024;
/** How often old events are removed, in milliseconds, and how many at once. */
const TRIM_MS = 60_000;

/** The changes of a record that stand in no log yet, without states, and by what it belongs to an organization. */
interface Waiting {
  _id: string;
  [TRACE]: { collection: string; events: TraceEntry[]; isRemoved?: true };
  [field: string]: unknown;
}

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
  let trimmedAt = 0;
  /** How this process has left the log; undefined if it was not the last to append, or has not finished. */
  let left: Pick<LogState, 'lastId' | 'batch'> | undefined;

  const until = (milliseconds: number) => ({ $add: [timeInStore(clock), milliseconds] });
  const own = { _id: LOG_STATE, owner };
  const held = { ...own, $expr: { $lt: [timeInStore(clock), '$leaseUntil'] } };

  /** @returns the state of the log, undefined while another process appends */
  async function take(): Promise<LogState | undefined> {
    const isFree = { $or: [{ $eq: ['$owner', owner] }, { $lte: ['$leaseUntil', timeInStore(clock)] }] };
    const lease = {
      owner: { $cond: [isFree, owner, '$owner'] },
      leaseUntil: { $cond: [isFree, until(LEASE_MS), '$leaseUntil'] },
    };
    const write = () =>
      states.findOneAndUpdate({ _id: LOG_STATE }, [{ $set: lease }], { upsert: true, returnDocument: 'after', ...options });
    const state = await write().catch((error: unknown) => {
      // another process has just made it
      if (!isDuplicateKey(error)) throw error;
    });
    return state?.owner === owner ? state : undefined;
  }

  /**
   * Records with waiting changes, those that have waited longest first. Of all collections, whichever process has written
   * them: what was acknowledged before another change is told before it.
   */
  async function waitingRecords(filter: object): Promise<Waiting[]> {
    const [first, ...others] = [...traced()].map(([collection, settings]) => ({
      collection,
      pipeline: [
        { $match: { [`${TRACE}.since`]: { $exists: true }, ...filter } },
        { $sort: { [`${TRACE}.since`]: 1 } },
        { $limit: BATCH_RECORDS },
        { $project: Object.fromEntries([TRACE, ...organizationIn(settings)].map((field) => [field, 1])) },
        { $unset: `${TRACE}.events.state` },
        { $set: { [`${TRACE}.collection`]: collection } },
      ],
    }));
    if (!first) return [];
    const unions = others.map(({ collection: coll, pipeline }) => ({ $unionWith: { coll, pipeline } }));
    const all = [...first.pipeline, ...unions, { $sort: { [`${TRACE}.since`]: 1 } }, { $limit: BATCH_RECORDS }];
    return database.collection(first.collection).aggregate<Waiting>(all, options).toArray();
  }

  /**
   * Waiting records, each with those of its changes that may be told: not those of units of work under way, nor what
   * follows them. A unit that has ended may have been taken back, so its records are read again after that was seen.
   */
  async function tellable(except: readonly string[]) {
    const found = await waitingRecords(except.length > 0 ? { _id: { $nin: except } } : {});
    const isFull = found.length === BATCH_RECORDS;
    const named = [...new Set(found.flatMap(unitsOf))];
    if (named.length === 0) return { isFull, records: found, heldBack: [] };
    const running = await database
      .collection<{ _id: string }>('units')
      .find({ _id: { $in: named } }, { projection: { _id: 1 }, ...options })
      .toArray();
    const underWay = new Set(running.map(({ _id }) => _id));
    const isOver = (unit: string | undefined) => unit !== undefined && named.includes(unit) && !underWay.has(unit);
    const isChanged = (record: Waiting) => unitsOf(record).some(isOver);
    const changed = found.filter(isChanged).map(({ _id }) => _id);
    // another collection may have a record of the same id
    const unchanged = new Set(found.filter((record) => !isChanged(record)).map(recordKey));
    const isRead = (record: Waiting) => !unchanged.has(recordKey(record));
    const again = changed.length > 0 ? (await waitingRecords({ _id: { $in: changed } })).filter(isRead) : [];
    const heldBack: string[] = [];
    const records = [...found.filter((record) => !isChanged(record)), ...again].flatMap((record) => {
      const { events: entries } = record[TRACE];
      const end = entries.findIndex(({ unit }) => unit !== undefined && !isOver(unit));
      if (end < 0) return record;
      heldBack.push(record._id);
      if (end === 0) return [];
      return { ...record, [TRACE]: { collection: record[TRACE].collection, events: entries.slice(0, end) } };
    });
    return { isFull, records, heldBack };
  }

  /** The organizations of the records that belong to one by another record. */
  async function organizationsOf(records: readonly Waiting[]): Promise<(record: Waiting) => string | null> {
    const known = new Map<string, string | null>();
    for (const [collection, { organization }] of traced()) {
      if (typeof organization !== 'object') continue;
      const { through, by } = organization;
      const ids = records.filter((one) => one[TRACE].collection === collection).map((one) => String(one[by]));
      if (ids.length === 0) continue;
      const found = await database
        .collection<{ _id: string; organizationId?: string | null }>(through)
        .find({ _id: { $in: ids } }, { projection: { organizationId: 1 }, ...options })
        .toArray();
      for (const { _id, organizationId = null } of found) known.set(_id, organizationId);
    }
    return (record) => {
      const { organization } = traced().get(record[TRACE].collection) as Traced;
      if (organization === undefined) return null;
      if (typeof organization === 'object') return known.get(String(record[organization.by])) ?? null;
      const id = record[organization];
      return typeof id === 'string' ? id : null;
    };
  }

  /** The events of records, and what to clear when they are in the log; at least those of the first record. */
  async function batchOf(records: readonly Waiting[], lastId: string) {
    const organizationOf = await organizationsOf(records);
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
    return { batch, cleared, lastId: last };
  }

  /** @param holder finds the state while this process may append @throws Overtaken */
  async function store(batch: StoredBatch, holder: object): Promise<void> {
    const set = Object.fromEntries(Object.entries(batch).map(([field, $literal]) => [field, { $literal }]));
    const { matchedCount } = await states.updateOne(holder, [{ $set: { ...set, leaseUntil: until(LEASE_MS) } }], options);
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
  async function finish({ batch = [], lastId = BEFORE_ALL, cleared = [] }: StoredBatch): Promise<void> {
    // a batch that was stored late is not this one
    const ofBatch = { ...held, lastId };
    await append(batch, ofBatch);
    const { matchedCount } = await states.updateOne(ofBatch, [{ $set: { head: lastId, leaseUntil: until(LEASE_MS) } }], options);
    if (matchedCount === 0) throw new Overtaken();
    await followBatch(batch, beforeCleared, (filter) => events.find(filter, { sort: { _id: 1 }, ...options }).toArray());
    for (const [collection, ofOne] of groupBy(cleared, ({ collection: name }) => name)) {
      const clears = [...groupBy(ofOne, ({ version }) => version)].map(([version, some]) => {
        const filter = { _id: { $in: some.map(({ id }) => id) } };
        return { updateMany: { filter, update: clearing(version) } };
      });
      await database.collection<{ _id: string }>(collection).bulkWrite(clears, { ordered: false, ...options });
      const removed = ofOne.filter(({ isRemoved }) => isRemoved).map(({ id }) => id);
      const shells = { _id: { $in: removed }, [`${TRACE}.isRemoved`]: true, [`${TRACE}.events`]: [] } as object;
      if (removed.length > 0) await database.collection(collection).deleteMany(shells, options);
    }
  }

  /** One pass. @returns the id of the last event if it has appended any; undefined while another process appends */
  async function relay(): Promise<{ last: string | undefined } | undefined> {
    // who was the last to append need not ask for the lease: to store a batch renews it, unless another process has taken it
    const unasked = left;
    left = undefined;
    const state = unasked ?? (await take());
    if (!state) return undefined;
    let { lastId = BEFORE_ALL } = state;
    let [isHeld, last]: [boolean, string | undefined] = [!unasked, undefined];
    try {
      if (state.batch) await finish(state);
      const passed: string[] = [];
      for (;;) {
        const { isFull, records, heldBack } = await tellable(passed);
        const next = await batchOf(records, lastId);
        if (next.cleared.length > 0) {
          await store(next, isHeld ? held : own);
          isHeld = true;
          last = lastId = next.lastId;
          await finish(next);
        }
        const remaining = new Set(records.slice(next.cleared.length).map(({ _id }) => _id));
        if (remaining.size === 0 && !isFull) break;
        passed.push(...heldBack.filter((id) => !remaining.has(id)));
      }
      if (isHeld) {
        await trim();
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

  /** Removes the events that are older than they are kept; says first up to which one. */
  async function trim(): Promise<void> {
    const now = clock.now().getTime();
    if (Math.abs(now - trimmedAt) < TRIM_MS) return;
    const old = { _id: { $lt: firstIdAt(now - retentionMs()) } };
    const last = await events.findOne(old, { sort: { _id: -1 }, projection: { _id: 1 }, ...options });
    if (last) {
      await states.updateOne(own, { $set: { removedUpTo: last._id } }, options);
      await events.deleteMany({ _id: { $lte: last._id } }, options);
    }
    trimmedAt = now;
  }

  return { relay, events, states };
}

/** The units of work that a record's changes are part of. */
const unitsOf = (record: Waiting) => record[TRACE].events.flatMap(({ unit }) => unit ?? []);

const recordKey = (record: Waiting) => `${record[TRACE].collection} ${record._id}`;

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
