import type { Storage } from '@tandem/storage';
import { createTree } from '../shared/trees.js';
import { MEMBERS, organizationModel, type OrganizationRecord } from './organization.model.js';
import { MAX_DEPTH, organizationErrors as errors } from './organizations.errors.js';
import type { HeldRole } from './organizations.schemas.js';
import { ORGANIZATION_ROLES } from './roles.js';

/** An organization's place in the tree. `parentId` is null at the top, or missing if a host left it out. */
interface Placed {
  _id: string;
  parentId?: string | null | undefined;
}
interface OwnRole extends Placed {
  role: string | undefined;
}

/** The distinct parent ids of these organizations. */
function parentsOf(placed: readonly Placed[]): string[] {
  return [...new Set(placed.flatMap(({ parentId }) => parentId ?? []))];
}

/** The ancestors of an organization that are in the map, from its parent upwards. */
function ancestorsIn<P extends Placed>({ parentId }: Placed, byId: ReadonlyMap<string, P>): P[] {
  const above: P[] = [];
  const most = Math.min(byId.size, MAX_DEPTH);
  for (let at = byId.get(parentId ?? ''); at && above.length < most; at = byId.get(at.parentId ?? '')) above.push(at);
  return above;
}

/** The highest role held in these ancestors, listed from the top down; among equal roles the one nearest to the top. */
function highest(above: readonly OwnRole[]): HeldRole | undefined {
  const held = ORGANIZATION_ROLES.flatMap((role) => above.find((one) => one.role === role) ?? [])[0];
  return held?.role === undefined ? undefined : { inheritedFrom: held._id, role: held.role };
}

/**
 * Maximum number of organizations with parts below the requested one. Their ids are kept in memory; the number of their parts
 * does not matter.
 */
const MAX_WITH_PARTS = 10_000;

interface WalkOptions {
  /** Runs an aggregate over the organizations. */
  read(stages: object[]): Promise<object[]>;
  tooMany(): Error;
  identityId?: string;
  depth?: number | undefined;
}

/** How a list reads the tree: through the gate, like its own query. */
export type TreeReads = Pick<WalkOptions, 'read' | 'tooMany'>;

const COLLECTION = organizationModel.collectionName;
const LIVE = { deletedAt: null };

/** Stages that find, among matching organizations, those with parts, with their parent and the identity's role in each. */
function withPartsStages(match: object, identityId: string | undefined): object[] {
  const isTheirs = { $eq: ['$$member.identityId', { $literal: identityId }] };
  const own = { $first: { $filter: { input: MEMBERS, as: 'member', cond: isTheirs, limit: 1 } } };
  const shown = { parentId: 1, ...(identityId !== undefined && { role: { $getField: { field: 'role', input: own } } }) };
  return [
    { $match: { ...match, ...LIVE } },
    // most have no parts; their ids are read from an index and stay inside the database
    { $group: { _id: null, ids: { $push: '$_id' } } },
    {
      $lookup: {
        from: COLLECTION,
        localField: 'ids',
        foreignField: 'parentId',
        pipeline: [{ $match: LIVE }, { $group: { _id: '$parentId' } }, { $limit: MAX_WITH_PARTS + 1 }],
        as: 'withParts',
      },
    },
    { $unset: 'ids' },
    { $unwind: '$withParts' },
    { $replaceRoot: { newRoot: '$withParts' } },
    {
      $lookup: { from: COLLECTION, localField: '_id', foreignField: '_id', pipeline: [{ $project: shown }], as: 'organization' },
    },
    { $unwind: '$organization' },
    { $replaceRoot: { newRoot: '$organization' } },
  ];
}

/**
 * The tree of organizations. Each stores only its parent, so that a move is one write however large the subtree. If a parent is
 * deleted, its parts keep the reference and count as top-level until it is restored. The tree is read level by level, without the
 * possibly long member lists.
 */
export function createOrganizationTree(storage: Storage) {
  const Organizations = storage.model(organizationModel);
  const tree = createTree({
    storage,
    model: Organizations,
    parentField: 'parentId',
    cycle: errors.cycle,
    missing: errors.notFound,
  });

  /** All ancestors of these organizations. */
  async function above(placed: readonly Placed[]): Promise<Map<string, Placed>> {
    const byId = new Map<string, Placed>();
    for (let level = parentsOf(placed); level.length > 0;) {
      const found = await Organizations.find({ _id: { $in: level } }, { parentId: 1 }).lean<Placed[]>();
      for (const one of found) byId.set(one._id, one);
      level = parentsOf(found).filter((id) => !byId.has(id));
    }
    return byId;
  }

  /**
   * Finds the organizations with parts among those that match and all below them, down to `depth` levels. Callers then find the
   * parts by `parentId`, however many there are.
   * @param identityId also read this identity's own role in each
   * @throws what `read` throws, and `tooMany` when there are more than MAX_WITH_PARTS
   */
  async function withPartsFrom(
    match: object,
    { read, tooMany, identityId, depth = MAX_DEPTH }: WalkOptions,
  ): Promise<{ byId: Map<string, OwnRole>; levels: number }> {
    const byId = new Map<string, OwnRole>();
    let levels = 0;
    for (let next: object | undefined = match; next && levels < depth;) {
      const found = (await read(withPartsStages(next, identityId))) as unknown as OwnRole[];
      const level = found.filter(({ _id }) => !byId.has(_id));
      for (const one of level) byId.set(one._id, one);
      if (byId.size > MAX_WITH_PARTS) throw tooMany();
      if (level.length > 0) levels += 1;
      next = level.length > 0 ? { parentId: { $in: level.map(({ _id }) => _id) } } : undefined;
    }
    return { byId, levels };
  }

  /** Organizations with the identity's own role in each. */
  async function withRoles(which: object, identityId: string): Promise<OwnRole[]> {
    const fields = { parentId: 1, members: { $elemMatch: { identityId } } };
    const found = await Organizations.find(which, fields).lean<OrganizationRecord[]>();
    return found.map(({ _id, parentId, members }) => ({ _id, parentId, role: members?.[0]?.role }));
  }

  /** @throws errors.notFound when the parent does not exist, tooDeep */
  async function checkParent(parentId: string, levelsBelow: number): Promise<void> {
    const parent = await Organizations.findById(parentId, { parentId: 1 }).lean<Placed>();
    if (!parent) throw errors.notFound();
    const levelsAbove = ancestorsIn(parent, await above([parent])).length + 1;
    if (levelsAbove + 1 + levelsBelow > MAX_DEPTH) throw errors.tooDeep();
  }

  /** Number of levels with parts, beginning with the organizations that match. @throws errors.tooDeep for too many to count */
  async function levelsFrom(match: object): Promise<number> {
    const read = (stages: object[]) => Organizations.collection.aggregate(stages).toArray();
    return (await withPartsFrom(match, { read, tooMany: errors.tooDeep })).levels;
  }

  return {
    /** The ancestor ids of each organization, from the top down. */
    async ancestorsOf(placed: readonly { id: string; parentId: string | null }[]): Promise<Map<string, string[]>> {
      const all = placed.map(({ id, parentId }) => ({ _id: id, parentId }));
      const byId = await above(all);
      return new Map(all.map((one) => [one._id, ancestorsIn(one, byId).map(({ _id }) => _id).toReversed()])); // prettier-ignore
    },

    /** The parents of everything below an organization, down to `depth` levels; at depth 1 that is the organization itself. */
    async parentsBelow(organizationId: string, depth: number | undefined, reads: TreeReads): Promise<string[]> {
      if (depth === 1) return [organizationId];
      const { byId } = await withPartsFrom({ _id: organizationId }, { ...reads, depth });
      return [...byId.keys()];
    },

    /** Checks the parent of a new organization. @throws errors.notFound when it does not exist, tooDeep */
    mayBeginBelow: (parentId: string) => checkParent(parentId, 0),

    /**
     * Moves an organization with its subtree below another, or to the top.
     * @throws errors.notFound (for either), cycle, tooDeep
     */
    async move(organizationId: string, parentId: string | null): Promise<void> {
      await tree.move(organizationId, parentId, {}, async (to) => checkParent(to, await levelsFrom({ _id: organizationId })));
    },

    /** Checks the place of a deleted organization, whose parts may have got more below them. @throws errors.tooDeep */
    async mayReturn(organizationId: string): Promise<void> {
      const deleted = await Organizations.findById(organizationId, { parentId: 1 })
        .setOptions({ deleted: 'only' })
        .lean<Placed>();
      if (!deleted) return;
      const hasParts = (await Organizations.exists({ parentId: organizationId })) !== null;
      const levelsBelow = hasParts ? 1 + (await levelsFrom({ parentId: organizationId })) : 0;
      const levelsAbove = ancestorsIn(deleted, await above([deleted])).length;
      if (levelsAbove + 1 + levelsBelow > MAX_DEPTH) throw errors.tooDeep();
    },

    /**
     * The identity's own role in a live organization, else the highest role it inherits.
     * @throws errors.notFound
     */
    async roleOf(organizationId: string, identityId: string): Promise<HeldRole | undefined> {
      const [own] = await withRoles({ _id: organizationId }, identityId);
      if (!own) throw errors.notFound();
      if (own.role !== undefined) return { inheritedFrom: null, role: own.role };
      const byId = await above([own]);
      if (byId.size === 0) return undefined;
      const held = new Map((await withRoles({ _id: { $in: [...byId.keys()] } }, identityId)).map((one) => [one._id, one]));
      return highest(ancestorsIn(own, byId).flatMap(({ _id }) => held.get(_id) ?? []).toReversed()); // prettier-ignore
    },

    /**
     * The roles that an identity inherits in the parts of these organizations, by parent; its own role in a part takes
     * precedence.
     */
    async inheritedBelow(identityId: string, reads: TreeReads): Promise<Map<string, HeldRole>> {
      const { byId } = await withPartsFrom({ 'members.identityId': identityId }, { ...reads, identityId });
      const held = [...byId.values()].map((one) => [one._id, highest([one, ...ancestorsIn(one, byId)].toReversed())] as const);
      return new Map(held.filter((entry): entry is [string, HeldRole] => entry[1] !== undefined));
    },
  };
}
export type OrganizationTree = ReturnType<typeof createOrganizationTree>;
