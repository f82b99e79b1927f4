import type { mongo } from 'mongoose';
import { organizationIn } from './told-changes.js';
import { TRACE, type TraceEntry, type Traced } from './traces.js';

/** Records whose changes are appended at once. */
const BATCH_RECORDS = 200;

/** The changes of a record that stand in no log yet, without states, and by what it belongs to an organization. */
export interface Waiting {
  _id: string;
  [TRACE]: {
    collection: string;
    events: TraceEntry[];
    isRemoved?: true;
    /** Which of the asked fields are known to have nothing in the states of all its changes. */
    lacks?: readonly string[];
  };
  [field: string]: unknown;
}

interface Tellable {
  records: Waiting[];
  /** There may be more of them. */
  isFull: boolean;
  /** The units under way to which the first changes belong that may not be told. */
  heldBackBy: readonly string[];
}

interface WaitingChangesOptions {
  database: mongo.Db;
  traced(): ReadonlyMap<string, Traced>;
  /** The fields of which `lacks` tells. */
  asked(): readonly string[];
  options: object;
}

/** Reads the changes of records that stand in no log yet. */
export function createWaitingChanges({ database, traced, asked, options }: WaitingChangesOptions) {
  /**
   * Records with waiting changes, those that have waited longest first. Of all collections, whichever process has written
   * them: what was acknowledged before another change is told before it.
   */
  async function waitingRecords(filter: object): Promise<Waiting[]> {
    const fields = asked();
    const [first, ...others] = [...traced()].map(([collection, settings]) => ({
      collection,
      pipeline: [
        { $match: { [`${TRACE}.since`]: { $exists: true }, ...filter } },
        { $sort: { [`${TRACE}.since`]: 1 } },
        { $limit: BATCH_RECORDS },
        { $project: Object.fromEntries([TRACE, ...organizationIn(settings), ...fields].map((field) => [field, 1])) },
        { $unset: `${TRACE}.events.state` },
        { $set: { [`${TRACE}.collection`]: collection } },
      ],
    }));
    if (!first) return [];
    const unions = others.map(({ collection: coll, pipeline }) => ({ $unionWith: { coll, pipeline } }));
    const all = [...first.pipeline, ...unions, { $sort: { [`${TRACE}.since`]: 1 } }, { $limit: BATCH_RECORDS }];
    const found = await database.collection(first.collection).aggregate<Waiting>(all, options).toArray();
    for (const record of found) {
      // of several changes, the record shows what the last one has made of it
      if (record[TRACE].events.length === 1) record[TRACE].lacks = fields.filter((field) => hasNothing(record[field]));
    }
    return found;
  }

  /**
   * Waiting records, each with those of its changes that may be told: not those of units of work under way, nor what
   * follows them. A unit that has ended may have been taken back, so its records are read again after that was seen.
   * @param passed units under way that are known to hold records back: the store leaves these out, however many they are
   */
  async function tellable(passed: readonly string[]): Promise<Tellable> {
    const found = await waitingRecords(passed.length > 0 ? { [`${TRACE}.events.0.unit`]: { $nin: passed } } : {});
    const isFull = found.length === BATCH_RECORDS;
    const named = [...new Set([...passed, ...found.flatMap(unitsOf)])];
    if (named.length === 0) return { isFull, records: found, heldBackBy: [] };
    const running = await database
      .collection<{ _id: string }>('units')
      .find({ _id: { $in: named } }, { projection: { _id: 1 }, ...options })
      .toArray();
    const underWay = new Set(running.map(({ _id }) => _id));
    const isOver = (unit: string | undefined) => unit !== undefined && named.includes(unit) && !underWay.has(unit);
    // one of them has ended meanwhile: what was changed after that is told after its changes
    if (passed.some(isOver)) return tellable(passed.filter((unit) => underWay.has(unit)));
    const isChanged = (record: Waiting) => unitsOf(record).some(isOver);
    const changed = found.filter(isChanged).map(({ _id }) => _id);
    // another collection may have a record of the same id
    const unchanged = new Set(found.filter((record) => !isChanged(record)).map(recordKey));
    const isRead = (record: Waiting) => !unchanged.has(recordKey(record));
    const again = changed.length > 0 ? (await waitingRecords({ _id: { $in: changed } })).filter(isRead) : [];
    const heldBackBy = new Set(passed);
    const records = [...found.filter((record) => !isChanged(record)), ...again].flatMap((record) => {
      const { events: entries } = record[TRACE];
      const end = entries.findIndex(({ unit }) => unit !== undefined && !isOver(unit));
      if (end < 0) return record;
      heldBackBy.add(entries[end]?.unit as string);
      if (end === 0) return [];
      return { ...record, [TRACE]: { collection: record[TRACE].collection, events: entries.slice(0, end) } };
    });
    return { isFull, records, heldBackBy: [...heldBackBy] };
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

  return { tellable, organizationsOf };
}

/** The units of work that a record's changes are part of. */
const unitsOf = (record: Waiting) => record[TRACE].events.flatMap(({ unit }) => unit ?? []);

const recordKey = (record: Waiting) => `${record[TRACE].collection} ${record._id}`;

/** Whether a field has no value, or an empty list. */
export const hasNothing = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);
