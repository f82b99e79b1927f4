import type { mongo } from 'mongoose';
import type { Clock } from './clock.js';
import { clearedBy, clearing, namesOf, notCleared, replacing, type Held, type NamedPerson, type Naming } from './people.js';
import { batchesOf, eachRange, type Pace, type Records, type StoredRecord } from './people-records.js';
import { SEARCH, searchOf } from './search.js';
import { TRACE, TRACE_TYPES } from './traces.js';

export interface ErasureSettings extends Pace {
  /** Whether texts go too (`ERASED_MESSAGES`). */
  blank: boolean;
}

/** What a pass has done. */
export interface Erased {
  changed: number;
  /** Records that could not be changed yet, because a change of theirs is still to be told. */
  left: number;
}

interface ErasureOptions {
  models: ReadonlyMap<string, Held>;
  database: () => mongo.Db;
  clock: Clock;
  /** Removes records for good, with what belongs to them. */
  purge(collectionName: string, ids: readonly string[], pace: Pace): Promise<unknown>;
  onWrite(collectionName: string): void;
}

const SINCE = `${TRACE}.since`;
/** Nothing of the record is to be told. What waits may keep a former state of it. */
const SETTLED = { [SINCE]: { $exists: false } };

/** Leaves an event ids and times alone: its record has gone, and no model says what in it was the person's. */
const isKept = { $regexMatch: { input: '$$this.k', regex: '^_id$|Ids?$|^(created|updated|deleted)At$' } };
const EMPTYING = { state: { $arrayToObject: { $filter: { input: { $objectToArray: '$state' }, cond: isKept } } } };

const idsOf = (batch: readonly StoredRecord[]) => batch.map(({ _id }) => _id);

/** Takes a person out of all records that name it, as their models declare (decisions F8). Each write may be repeated. */
export function createErasure({ models, database, clock, purge, onWrite }: ErasureOptions) {
  const recordsOf = (name: string): Records => database().collection<StoredRecord>(name);

  /** The write of a batch, whose change is told, or not. */
  function writerOf({ definition: { collectionName, traced, searched }, model }: Held, { untold }: Naming) {
    const told = model.collection as unknown as Records;
    return async (ids: readonly string[], set: Record<string, unknown>, among: object): Promise<number> => {
      const filter = { _id: { $in: [...ids] }, ...among, ...(traced && SETTLED) } as object;
      if (traced && !untold) return (await told.updateMany(filter, [{ $set: set }])).modifiedCount;
      const cleared = searched.filter((field) => field in set);
      const values = Object.fromEntries(cleared.map((field) => [field, (set[field] as { $literal?: unknown }).$literal]));
      const entries = Object.entries(searchOf(values, cleared)).map(([field, $literal]) => [`${SEARCH}.${field}`, { $literal }]);
      // another version, as the record is another
      const version = traced && { [`${TRACE}.version`]: { $add: [{ $ifNull: [`$${TRACE}.version`, 0] }, 1] } };
      const stages = [{ $set: { ...set, ...Object.fromEntries(entries), ...version } }];
      const { modifiedCount } = await recordsOf(collectionName).updateMany(filter, stages);
      onWrite(collectionName);
      return modifiedCount;
    };
  }

  async function remove(held: Held, naming: Naming, path: string, named: object, pace: Pace): Promise<Erased> {
    const { collectionName, traced, softDelete } = held.definition;
    const write = writerOf(held, naming);
    const records = recordsOf(collectionName);
    let [changed, left] = [0, 0];
    for await (const batch of batchesOf(records, held.definition, { path, filter: named }, pace)) {
      const ids = idsOf(batch);
      if (traced && softDelete) {
        // its end is told first
        const set = { ...clearing(clearedBy(naming, true)), deletedAt: { $literal: clock.now() } };
        changed += await write(ids, set, { deletedAt: null });
      }
      // one whose last change was told only now has not been marked
      const isTold = { _id: { $in: ids }, ...SETTLED, ...(softDelete && { deletedAt: { $ne: null } }) } as object;
      const ready = traced ? await records.find(isTold, ONLY_IDS).toArray() : batch;
      if (ready.length > 0) await purge(collectionName, idsOf(ready), pace);
      changed += ready.length;
      left += batch.length - ready.length;
    }
    return { changed, left };
  }

  async function clear(
    held: Held,
    naming: Naming,
    path: string,
    { names, named, ...settings }: { names: readonly string[]; named: object } & ErasureSettings,
  ): Promise<Erased> {
    const cleared = clearedBy(naming, settings.blank);
    const isReplaced = naming.erased === 'replace';
    if (!isReplaced && cleared.length === 0) return { changed: 0, left: 0 };
    const open = isReplaced ? {} : notCleared(cleared);
    const set = { ...clearing(cleared), ...(isReplaced && replacing(path, names)) };
    const write = writerOf(held, naming);
    const records = recordsOf(held.definition.collectionName);
    const filter = { ...named, ...open };
    let [found, changed] = [0, 0];
    for await (const batch of batchesOf(records, held.definition, { path, filter }, settings)) {
      found += batch.length;
      changed += await write(idsOf(batch), set, filter);
    }
    return { changed, left: found - changed };
  }

  return {
    /** One pass over all records. Nothing is left after the pass that changes nothing. */
    async records(person: NamedPerson, settings: ErasureSettings): Promise<Erased> {
      const sum = { changed: 0, left: 0 };
      for (const held of models.values()) {
        for (const [path, naming] of Object.entries(held.definition.people)) {
          const names = namesOf(person, naming);
          if (naming.erased === 'own' || names.length === 0) continue;
          const named = { [path]: { $in: [...names] } };
          const { changed, left } =
            naming.erased === 'remove'
              ? await remove(held, naming, path, named, settings)
              : await clear(held, naming, path, { names, named, ...settings });
          sum.changed += changed;
          sum.left += left;
        }
      }
      return sum;
    },

    /** What the log of events shows of the person. @returns how many events were changed */
    async events(person: NamedPerson, settings: ErasureSettings): Promise<number> {
      const events = recordsOf('events');
      const writes = [...models.values()].flatMap(({ definition: { traced, people } }) =>
        Object.entries(people).flatMap(([path, naming]) => {
          const names = namesOf(person, naming);
          const cleared = clearedBy(naming, settings.blank);
          const isReplaced = naming.erased === 'replace';
          const isEmptied = naming.erased === 'remove' && !naming.cleared && !naming.texts;
          if (!traced || names.length === 0 || (cleared.length === 0 && !isReplaced && !isEmptied)) return [];
          const at = `state.${path}`;
          const types = TRACE_TYPES.map((change) => `${traced.kind}.${change}`);
          const filter = { type: { $in: types }, [at]: { $in: [...names] }, ...(!isReplaced && notCleared(cleared, 'state.')) };
          const set = isEmptied ? EMPTYING : { ...clearing(cleared, 'state.'), ...(isReplaced && replacing(at, names)) };
          return [{ types, filter, update: [{ $set: set }] }];
        }),
      );
      let changed = 0;
      if (writes.length === 0) return 0;
      await eachRange(events, settings, async (range) => {
        const among = { ...range, $or: writes.map(({ filter }) => filter) } as object;
        const found = await events.find(among, { projection: { _id: 1, type: 1 } }).toArray();
        const operations = writes.flatMap(({ types, filter, update }) => {
          const ids = idsOf(found.filter(({ type }) => types.includes(String(type))));
          return ids.length > 0 ? [{ updateMany: { filter: { _id: { $in: ids }, ...filter }, update } }] : [];
        });
        if (operations.length === 0) return;
        changed += (await events.bulkWrite(operations, { ordered: false })).modifiedCount;
      });
      return changed;
    },
  };
}

const ONLY_IDS = { projection: { _id: 1 } } as const;
