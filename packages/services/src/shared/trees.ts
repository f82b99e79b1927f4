import { setTimeout } from 'node:timers/promises';
import { requestErrors } from '@tandem/core';
import {
  PURGING,
  VersionError,
  actingAs,
  asSystem,
  defineModel,
  expectedOf,
  isDuplicateKey,
  noteMade,
  ofVersions,
  traceContext,
  type BaseRecord,
  type ExpectedVersions,
  type Live,
  type Model,
  type Storage,
  type TraceActor,
} from '@tandem/storage';
import { mergeHostFields, type HostGiven, type StoredHostFields } from './host-fields.js';
import { mergeMetadata, type Metadata, type MetadataPatch } from './metadata.js';
import { PATIENCE_MS } from './patching.js';
import { createTurns } from './turns.js';

/** The longest pause before a change that met concurrent ones is tried again. */
const PAUSE_MS = 10;
/** So many refused changes are remembered: who has decided one asks right after it. */
const REFUSED_MAX = 100;

/** A record of a tree. */
export interface TreeRecord extends Live {
  /** The version of the tree change that last wrote the record. A host may have left it out. */
  treeVersion?: number;
  metadata?: Metadata;
  hostFields?: StoredHostFields | null;
}
export const treeField = { treeVersion: { type: Number, default: 0 } } as const;

/** The write of one record. */
interface TreeChange {
  id: string;
  set: object;
  /** Whether it is inserted. */
  isNew?: true;
  /** The versions in which the record may be changed; default any. */
  expected?: ExpectedVersions;
  /** Who decided it: another may write it. */
  actor?: TraceActor | null;
}

/** Serializes the changes of the tree in the collection that is its id. */
interface TreeState extends BaseRecord {
  version: number;
  /** A change that is decided but may not be written yet. */
  pending: TreeChange | null;
  /** The versions of the last changes that were not written, as their records had other versions than expected. */
  refused?: number[];
}
export const treeModel = defineModel<TreeState>('trees', {
  softDelete: false,
  fields: { version: { type: Number, required: true }, pending: { type: Object, default: null }, refused: [Number] },
  indexes: [],
});

/**
 * Changes of a record besides its place. All changes of what is merged take turns, so that none is lost and a limit decided on is
 * still kept.
 */
interface TreePatch extends HostGiven {
  metadata?: MetadataPatch | undefined;
  [field: string]: unknown;
}

interface TreeOptions<R extends TreeRecord> {
  storage: Storage;
  model: Model<R>;
  /** The field with the parent's id; null at the root. */
  parentField: keyof R & string;
  /** Thrown when a move would place a record below itself. */
  cycle(): Error;
  /** Thrown when the record does not exist. */
  missing(): Error;
}

/**
 * Serializes changes of a tree over all instances, so that a decision based on several records (no cycle, a live parent, nothing
 * below) is still true when it is written.
 *
 * A change is decided at one version of the tree, and stored as pending by one write that requires this version. Then it is
 * written to its record and is no longer pending. Any process that finds a pending change writes it first, at the latest a sweep,
 * so it does not matter which process dies in between. Each record keeps the version that last wrote it, so repeating a write
 * late has no effect.
 */
export function createTree<R extends TreeRecord>({ storage, model, parentField, cycle, missing }: TreeOptions<R>) {
  // typed for the fields that every tree has
  const Records = model as unknown as Model<TreeRecord>;
  const { collection: trees } = storage.model(treeModel);
  const { clock } = storage;
  const own = { _id: Records.collection.collectionName };

  const find = async () => (await trees.findOne(own as object)) as unknown as TreeState | null;

  async function read(): Promise<TreeState> {
    const found = await find();
    if (found) return found;
    const now = clock.now();
    // begins above the version of any record, in case this one was lost
    const first = { ...own, version: now.getTime(), pending: null, createdAt: now, updatedAt: now };
    await trees.insertOne(first as object).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
    return read();
  }

  const isIn = async (id: string, condition: object) =>
    (await Records.collection.countDocuments({ _id: id, ...condition } as object, { limit: 1 })) > 0;

  /**
   * Writes the pending change of a version and marks it done. Any number of processes may do so at once.
   * @returns whether it was written
   */
  async function finish({ version, pending }: Pick<TreeState, 'version' | 'pending'>): Promise<boolean> {
    if (!pending) return true;
    const { id, set, isNew = false, expected, actor } = pending;
    const isOlder = {
      _id: id,
      treeVersion: { $not: { $gte: version } },
      // may have been marked, or deleted, since it was decided
      [PURGING]: null,
      ...(!('deletedAt' in set) && { deletedAt: null }),
      ...(expected && ofVersions(expected)),
    } as object;
    const stamped = { ...set, treeVersion: version };
    const write = () =>
      isNew
        ? Records.collection.updateOne({ _id: id } as object, { $setOnInsert: stamped }, { upsert: true })
        : Records.collection.updateOne(isOlder, { $set: stamped });
    // apart from the call under way, whose version and name are its own change's
    const writing = actor === undefined ? asSystem(write) : actingAs(actor, write);
    await writing.catch((error: unknown) => {
      // another process has inserted it: ids are never reused
      if (!isNew || !isDuplicateKey(error)) throw error;
    });
    // counts only while no later change is decided, which would hide that this one was not written
    const isWritten = !expected || (await isIn(id, { treeVersion: { $gte: version } }));
    const { matchedCount } = await trees.updateOne(
      { ...own, version } as object,
      {
        $set: { pending: null, updatedAt: clock.now() },
        ...(!isWritten && { $push: { refused: { $each: [version], $slice: -REFUSED_MAX } } }),
      } as object,
    );
    if (!expected || matchedCount > 0) return isWritten;
    return !(await read()).refused?.includes(version);
  }

  /** @param end when to give up, as `performance.now` counts */
  async function attempt(decide: () => Promise<TreeChange>, end: number): Promise<void> {
    for (let isFirst = true; performance.now() < end; isFirst = false) {
      if (!isFirst) await setTimeout(PAUSE_MS * Math.random());
      const { version, pending } = await read();
      if (pending) {
        await finish({ version, pending });
        continue;
      }
      const change = await decide();
      const expected = expectedOf(change.id);
      // a later change of the record would hide that this one was not written
      if (expected && !(await isIn(change.id, ofVersions(expected)))) throw new VersionError();
      const { actor } = traceContext();
      const next = { version: version + 1, pending: { ...change, actor, ...(expected && { expected }) } };
      const { modifiedCount } = await trees.updateOne({ ...own, version, pending: null } as object, {
        $set: { ...next, updatedAt: clock.now() },
      });
      if (modifiedCount === 0) continue;
      const isWritten = await finish(next);
      if (change.isNew) noteMade(change.id);
      if (!isWritten) throw new VersionError();
      if (expected) expected.isMet = true;
      return;
    }
    throw requestErrors.unavailable({ retryAfter: 1 });
  }

  /** Writes a change that a dead process left pending, so that it cannot overwrite a later change that bypasses the tree. */
  async function finishPending(): Promise<void> {
    const found = await find();
    if (found) await finish(found);
  }
  storage.onSweep(finishPending);

  const inTurn = createTurns();
  /**
   * Makes a change. Those of one process take turns, because as rivals they would only make each other decide again.
   * @param decide reads records and returns what to write; called again after another instance's change
   * @throws what `decide` throws; requestErrors.unavailable when concurrent changes last too long
   */
  function change(decide: () => Promise<TreeChange>): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    return inTurn(own._id, () => attempt(decide, end));
  }

  /** Whether a record is another or below it. Passes deleted records too, since they may be restored. */
  async function isWithin(id: string, target: string): Promise<boolean> {
    const passed = new Set<unknown>();
    let at: unknown = id;
    while (typeof at === 'string' && at !== target && !passed.has(at)) {
      passed.add(at);
      const above = await Records.findById(at, { [parentField]: 1 })
        .setOptions({ deleted: 'include' })
        .lean<TreeRecord>();
      at = above && Reflect.get(above, parentField);
    }
    return at === target;
  }

  return {
    change,
    finishPending,

    /**
     * Moves a record below another, or to the root (null), and makes the other changes in the same write, which merges metadata
     * and a host's fields.
     * @param check throws where the record may not be
     * @throws cycle, missing; what `check` throws; validationError for too many keys of metadata; requestErrors.unavailable when
     * concurrent changes last too long
     */
    async move(
      id: string,
      to: string | null | undefined,
      { metadata, hostFields, ...set }: TreePatch = {},
      check?: (to: string) => Promise<void>,
    ): Promise<void> {
      await change(async () => {
        const before = await Records.findById(id, { metadata: 1, hostFields: 1 }).lean<TreeRecord>();
        if (!before) throw missing();
        if (typeof to === 'string' && (await isWithin(to, id))) throw cycle();
        if (typeof to === 'string') await check?.(to);
        const merged = {
          ...(metadata && { metadata: mergeMetadata(before.metadata, metadata, '/metadata') }),
          ...(hostFields && { hostFields: mergeHostFields(before.hostFields, hostFields) }),
        };
        return { id, set: { ...set, ...merged, ...(to !== undefined && { [parentField]: to }), updatedAt: clock.now() } };
      });
    },
  };
}
