import type { ListAnswer, ListQuery, Lists, ReadQuery } from '@tandem/lists';
import { PURGING, newId, present, type Storage } from '@tandem/storage';
import { hasOwnData } from '../shared/changes.js';
import { madeIn } from '../shared/made-records.js';
import { givenOf } from '../shared/patching.js';
import { createTree } from '../shared/trees.js';
import { locationModel, type LocationRecord } from './location.model.js';
import { MAX_DEPTH, locationErrors as errors } from './locations.errors.js';
import { locationKind, locationList, type Location, type LocationPatch, type NewLocation } from './locations.schemas.js';

export type LocationsService = ReturnType<typeof createLocationsService>;

/** An ancestor of a location; `level` 0 is the parent. */
interface Ancestor {
  _id: string;
  level: number;
}

/** A location without its ancestors. */
function showBare(record: LocationRecord): Location {
  const { treeVersion, parentId, metadata = {}, ...shown } = present(record);
  // a host may have left these out
  return { ...shown, metadata, code: shown.code ?? '', parentId: parentId ?? null, ancestors: [] };
}

/** The location tree (decisions R8). Ids are UUID strings; nothing here depends on HTTP. */
export function createLocationsService({ storage, lists }: { storage: Storage; lists: Lists }) {
  const Locations = storage.model(locationModel);
  const { collection } = Locations;
  const tree = createTree({
    storage,
    model: Locations,
    parentField: 'parentId',
    cycle: errors.cycle,
    missing: errors.notFound,
  });
  const { clock } = storage;

  /** The ancestors of each location, from the top down, by one query. */
  async function ancestorsOf(locationIds: string[]): Promise<Map<string, string[]>> {
    const rows = (await collection
      .aggregate([
        { $match: { _id: { $in: locationIds } } },
        {
          $graphLookup: {
            from: collection.collectionName,
            startWith: '$parentId',
            connectFromField: 'parentId',
            connectToField: '_id',
            as: 'above',
            depthField: 'level',
            maxDepth: MAX_DEPTH,
            restrictSearchWithMatch: { deletedAt: null },
          },
        },
        { $project: { 'above._id': 1, 'above.level': 1 } },
      ])
      .toArray()) as unknown as { _id: string; above: Ancestor[] }[];
    return new Map(
      rows.map(({ _id, above }) => [
        _id,
        above.toSorted((one, other) => other.level - one.level).map((ancestor) => ancestor._id),
      ]),
    );
  }

  async function addAncestors(locations: readonly Location[]): Promise<void> {
    const above = await ancestorsOf(locations.map(({ id }) => id));
    for (const location of locations) location.ancestors = above.get(location.id) ?? [];
  }

  const shown = { show: showBare, complete: { ancestors: addAncestors } };
  lists.relate(locationKind, { model: Locations as never, ...shown });
  lists.tell('location', locationList, shown);

  const showOne = lists.one(locationList, showBare);

  /** @throws errors.notFound */
  async function show(record: LocationRecord | null): Promise<Location> {
    const location = showOne(record, errors.notFound);
    await addAncestors([location]);
    return location;
  }

  /** @throws errors.notFound */
  async function find(locationId: string): Promise<LocationRecord> {
    const record = await Locations.findById(locationId).lean<LocationRecord>();
    if (!record) throw errors.notFound();
    return record;
  }

  async function exists(locationId: string): Promise<boolean> {
    return (await Locations.exists({ _id: locationId })) !== null;
  }

  /** Number of levels below a location, counted to just above the maximum. */
  async function heightOf(locationId: string): Promise<number> {
    let level = [locationId];
    for (let height = 0; ; height++) {
      const below = await Locations.find({ parentId: { $in: level } }, { _id: 1 }).lean<{ _id: string }[]>();
      if (below.length === 0 || height > MAX_DEPTH) return height;
      level = below.map(({ _id }) => _id);
    }
  }

  /** @throws errors.notFound (for the parent), tooDeep */
  async function checkParent(parentId: string, locationId?: string): Promise<void> {
    if (!(await exists(parentId))) throw errors.notFound();
    const above = (await ancestorsOf([parentId])).get(parentId) ?? [];
    const height = locationId === undefined ? 0 : await heightOf(locationId);
    if (above.length + 1 + height >= MAX_DEPTH) throw errors.tooDeep();
  }

  return {
    /** @throws errors.notFound when the parent does not exist, tooDeep */
    async create({ parentId = null, ...given }: NewLocation, id = newId(clock)): Promise<Location> {
      const now = clock.now();
      const record = { ...given, parentId, deletedAt: null, createdAt: now, updatedAt: now };
      await tree.change(async () => {
        if (parentId !== null) await checkParent(parentId);
        return { id, set: record, isNew: true };
      });
      return show({ _id: id, ...record });
    },

    async made(anId: () => string): Promise<Location | undefined> {
      // the earlier attempt may have died between its decision and its write
      await tree.finishPending();
      return madeIn(Locations, show)(anId);
    },

    /** @throws errors.notFound */
    async get(locationId: string, query?: ReadQuery): Promise<Location> {
      return lists.find(locationList, Locations, { _id: locationId }, shown, errors.notFound, query);
    },

    list(query: ListQuery): Promise<ListAnswer<Location>> {
      return lists.answer(locationList, Locations, shown, query);
    },

    /**
     * Changes the given fields. A new `parentId` moves the whole subtree.
     * @throws errors.nothingToUpdate for an empty change, notFound (also for the new parent), cycle, tooDeep
     */
    async patch(locationId: string, { parentId, ...patch }: LocationPatch): Promise<Location> {
      const set = givenOf(patch);
      if (parentId === undefined && !hasOwnData(set)) {
        if (Object.keys(set).length === 0) throw errors.nothingToUpdate();
        await tree.finishPending();
        const options = { returnDocument: 'after' } as const;
        return show(await Locations.findByIdAndUpdate(locationId, { $set: set }, options).lean<LocationRecord>());
      }
      await tree.move(locationId, parentId, set, (parent) => checkParent(parent, locationId));
      return show(await find(locationId));
    },

    /** Soft-deletes a location. @throws errors.notFound, hasDescendants */
    async delete(locationId: string): Promise<void> {
      await tree.change(async () => {
        await find(locationId);
        if (await Locations.exists({ parentId: locationId })) throw errors.hasDescendants();
        return { id: locationId, set: { deletedAt: clock.now() } };
      });
    },

    /** Restores a location to its old place. @throws errors.notFound when there is nothing to restore, parentDeleted, tooDeep */
    async restore(locationId: string): Promise<Location> {
      await tree.change(async () => {
        const restorable = { _id: locationId, [PURGING]: null };
        const deleted = await Locations.findOne(restorable).setOptions({ deleted: 'only' }).lean<LocationRecord>();
        if (!deleted) throw errors.notFound();
        const { parentId } = deleted;
        if (parentId) {
          if (!(await exists(parentId))) throw errors.parentDeleted();
          await checkParent(parentId);
        }
        return { id: locationId, set: { deletedAt: null, updatedAt: clock.now() } };
      });
      return show(await find(locationId));
    },
  };
}
