import { textIn } from './indexes.js';
import type { BaseRecord, Cascade, Live, Model, ModelDefinition } from './model.js';

/** All records that one deletion removes carry its id, so that a restore brings back exactly these (decision R2). */
export interface Deletion {
  id: string;
  at: Date;
}

/** A record that stores what removed and what restored it last. Shown to nobody; queries read it only on request. */
export interface Deletable extends Live {
  /** Its own deletion or its parent's. It stays after a restore. */
  deletionId?: string | null;
  /** The restoration of this record itself, not of its parent. */
  restoration?: string | null;
}
export const deletionFields = {
  deletionId: { type: String, select: false },
  restoration: { type: String, select: false },
} as const;
/** The fields of `deletionFields`, which lists hide. */
export const DELETION_FIELDS = ['deletionId', 'restoration'] as const;

/** The operations of a collection that are used here. Filters name fixed fields, so that they need no casts. */
export interface DeletableCollection {
  find(filter: object, options: object): { toArray(): Promise<Deletable[]> };
  findOne(filter: object, options: object): Promise<Deletable | null>;
  distinct(field: string, filter: object): Promise<unknown[]>;
  countDocuments(filter: object): Promise<number>;
  updateMany(filter: object, update: object): Promise<{ matchedCount: number }>;
}

/** The driver's collection. It shows deleted records, and changes no `updatedAt`. */
export function withDeleted<R extends BaseRecord>({ collection }: Model<R>): DeletableCollection {
  return collection;
}

/** A cascade, seen from the parents. */
interface Link extends Cascade {
  children: string;
  /** Whether several parents can delete a child, which then lives while none of them has: see `markShared`. */
  isShared: boolean;
}

/** A deletion, or with `at` null its restoration. */
interface Change {
  id: string;
  at: Date | null;
}

/** The parents whose children one command writes. */
const PARENTS_MAX = 10_000;

type Children = Pick<ModelDefinition<BaseRecord>, 'collectionName' | 'cascades'>;
type Models = ReadonlyMap<string, { definition: Children; model: Model<BaseRecord> }>;
export type Cascades = ReturnType<typeof createCascades>;

/** Deletes and restores children with their parents, of all models that declare a cascade. */
export function createCascades(models: Models) {
  const listeners = new Map<string, (() => void)[]>();

  function collectionOf(name: string): DeletableCollection {
    const found = models.get(name);
    if (!found) throw new Error(`A cascade names the collection ${name}, which has no model`);
    return withDeleted(found.model);
  }

  function linksBelow(parents: string): Link[] {
    return [...models.values()].flatMap(({ definition: { collectionName: children, cascades } }) =>
      cascades.filter((one) => one.with === parents).map((one) => ({ ...one, children, isShared: cascades.length > 1 })),
    );
  }

  /** The deletions of those given records that are deleted, by record id. What a host deleted has none. */
  async function deletionsOf(collectionName: string, ids: readonly string[]): Promise<Map<string, Deletion>> {
    const deleted = { _id: { $in: ids }, deletedAt: { $ne: null } };
    const found = await collectionOf(collectionName)
      .find(deleted, { projection: { deletionId: 1, deletedAt: 1 } })
      .toArray();
    return new Map(found.flatMap(({ _id, deletionId: id, deletedAt: at }) => (id && at ? [[_id, { id, at }] as const] : [])));
  }

  /**
   * Deletes children with their parents, or restores them, and all below them. Repeatable.
   * @param among what the children must match
   */
  async function mark(links: readonly Link[], parentIds: readonly string[], change: Change, among: object = {}): Promise<void> {
    const { id, at } = change;
    for (const { children, by, moves, isShared } of links) {
      const own = { ...among, ...(!(moves && at === null) && { [by]: { $in: parentIds } }) };
      const collection = collectionOf(children);
      // those that are so already are passed over: a repetition goes on where the store has interrupted it
      if (isShared) await collection.updateMany({ ...own, hiddenBy: at ? { $ne: id } : id }, markShared(change));
      else if (at) await collection.updateMany({ ...own, deletedAt: null }, { $set: { deletedAt: at, deletionId: id } });
      else
        await collection.updateMany(
          { ...own, deletionId: textIn([id]), deletedAt: { $ne: null } },
          { $set: { deletedAt: null } },
        );
      for (const listener of listeners.get(children) ?? []) listener();
      const below = linksBelow(children);
      if (below.length === 0) continue;
      const marked = await collection.find({ ...own, deletionId: textIn([id]) }, { projection: { _id: 1 } }).toArray();
      const markedIds = marked.map(({ _id }) => _id);
      // in parts, since a command takes some 300,000 ids at most; once even without parents, since `mark` also brings back what has
      // moved elsewhere
      let from = 0;
      do await mark(below, markedIds.slice(from, from + PARENTS_MAX), change);
      while ((from += PARENTS_MAX) < markedIds.length);
    }
  }

  /**
   * Brings children into the state of their parents: deleted with every deleted parent, whichever deletion removed it,
   * and restored with the others. Reads the parents again after writing and repeats until nothing has changed. So when
   * deletions and restorations race, on any instances or in a sweep's late retry, the last run sees the final state of
   * the parents.
   * @param known deletions that the children may carry, by parent
   * @param among what the children must match
   * @returns the deletions of those parents that are deleted
   */
  async function settle(
    links: readonly Link[],
    parents: { collectionName: string; ids: readonly string[] },
    known: ReadonlyMap<string, Deletion>,
    among?: object,
  ): Promise<Map<string, Deletion>> {
    const { collectionName, ids } = parents;
    let before = known;
    for (let seen = await deletionsOf(collectionName, ids); ;) {
      if (links.length === 0 || before.size + seen.size === 0) return seen;
      const isOver = ([parentId, { id }]: [string, Deletion]) => seen.get(parentId)?.id !== id;
      for (const { id, ids: parentIds } of byDeletion([...before].filter(isOver)))
        await mark(links, parentIds, { id, at: null }, among);
      for (const { ids: parentIds, ...deletion } of byDeletion([...seen])) await mark(links, parentIds, deletion, among);
      before = seen;
      seen = await deletionsOf(collectionName, ids);
      if (ids.every((id) => seen.get(id)?.id === before.get(id)?.id)) return seen;
    }
  }

  return {
    /** @throws Error for a cascade with a collection that has no model, which would only fail at the first deletion */
    check(): void {
      for (const { definition } of models.values()) for (const { with: parents } of definition.cascades) collectionOf(parents);
    },

    /** Calls `listener` when this process has deleted or restored records of a collection with their parents. */
    onChange(collectionName: string, listener: () => void): void {
      listeners.set(collectionName, [...(listeners.get(collectionName) ?? []), listener]);
    },

    /**
     * Brings all below some records into the state of these.
     * @param deletion the one that was made or taken back
     * @returns the deletions of those records that are deleted
     */
    followDown(collectionName: string, ids: readonly string[], deletion: Deletion): Promise<Map<string, Deletion>> {
      return settle(linksBelow(collectionName), { collectionName, ids }, new Map(ids.map((id) => [id, deletion])));
    },

    /** Deletes just-written records whose parent was deleted before its deletion could see them. Repeatable. */
    async followParents({ collectionName, cascades }: Children, ids: readonly string[]): Promise<void> {
      const among = { _id: { $in: ids } };
      for (const { with: parents, by } of cascades) {
        const live = { ...among, deletedAt: null, [by]: { $ne: null } };
        const named = (await collectionOf(collectionName).distinct(by, live)).filter((id) => typeof id === 'string');
        const links = linksBelow(parents).filter(({ children }) => children === collectionName);
        if (named.length > 0) await settle(links, { collectionName: parents, ids: named }, new Map(), among);
      }
    },

    /** Whether all parents of a record live. */
    async hasParents(record: object, cascades: readonly Cascade[]): Promise<boolean> {
      for (const { with: parents, by } of cascades) {
        const _id: unknown = Reflect.get(record, by);
        if (_id && (await collectionOf(parents).countDocuments({ _id, deletedAt: null })) === 0) return false;
      }
      return true;
    },
  };
}

/** The records that each deletion has removed. */
function byDeletion(removed: [recordId: string, Deletion][]): (Deletion & { ids: string[] })[] {
  const found = new Map<string, Deletion & { ids: string[] }>();
  for (const [recordId, deletion] of removed) {
    const one = found.get(deletion.id) ?? { ...deletion, ids: [] };
    one.ids.push(recordId);
    found.set(deletion.id, one);
  }
  return [...found.values()];
}

/**
 * The update of a child that several parents can delete. `hiddenBy` lists the deletions, so that the result does not
 * depend on the order in which parents are deleted and restored. The last deletion counts as its time: the record goes for good
 * no earlier than the last of its parents. A host may have left it out.
 */
function markShared({ id, at }: Change): object[] {
  const hiddenBy = { $ifNull: ['$hiddenBy', []] };
  if (at) return [{ $set: { hiddenBy: { $setUnion: [hiddenBy, [id]] }, deletedAt: { $max: ['$deletedAt', at] } } }];
  const deletedAt = { $cond: [{ $eq: ['$hiddenBy', []] }, null, '$deletedAt'] };
  return [{ $set: { hiddenBy: { $setDifference: [hiddenBy, [id]] } } }, { $set: { deletedAt } }];
}
