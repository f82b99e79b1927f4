import type { Storage } from '@tandem/storage';
import { createTreeMoves } from '../shared/tree-moves.js';
import { MEMBERS, organizationModel, type OrganizationRecord } from './organization.model.js';
import { MAX_DEPTH, organizationErrors as errors } from './organizations.errors.js';
import type { HeldRole } from './organizations.schemas.js';
import { ORGANIZATION_ROLES } from './roles.js';

/** Where an organization stands: at the top with null, or where a host has left it out. */
interface Placed {
  _id: string;
  parentId?: string | null | undefined;
}
interface OwnRole extends Placed {
  role: string | undefined;
}

/** Distinct ids of what lies above these. */
function parentsOf(placed: readonly Placed[]): string[] {
  return [...new Set(placed.flatMap(({ parentId }) => parentId ?? []))];
}

/** What is above an organization, from its parent up, as far as it is known. */
function wayUp<P extends Placed>({ parentId }: Placed, known: ReadonlyMap<string, P>): P[] {
  const above: P[] = [];
  const most = Math.min(known.size, MAX_DEPTH);
  for (let at = known.get(parentId ?? ''); at && above.length < most; at = known.get(at.parentId ?? '')) above.push(at);
  return above;
}

/** The highest of the roles held in these, which stand from the top down; of equal ones that nearest to the top. */
function highest(above: readonly OwnRole[]): HeldRole | undefined {
  const held = ORGANIZATION_ROLES.flatMap((role) => above.find((one) => one.role === role) ?? [])[0];
  return held?.role === undefined ? undefined : { inheritedFrom: held._id, role: held.role };
}

/** So many organizations with parts may lie below what is asked for, whose ids this process has to hold. How many parts they have does not matter. */
const MAX_WITH_PARTS = 10_000;

interface WalkOptions {
  /** Runs one aggregate over the organizations. */
  read(stages: object[]): Promise<object[]>;
  tooMany(): Error;
  identityId?: string;
  depth?: number | undefined;
}

/** How a list reads the tree: as the rest of what it reads, when it is the caller's turn. */
export type TreeReads = Pick<WalkOptions, 'read' | 'tooMany'>;

const COLLECTION = organizationModel.collectionName;
const LIVE = { deletedAt: null };

/** Of the organizations that match, those that have parts, with what they are part of and the role that the identity has in each. */
function withPartsStages(match: object, identityId: string | undefined): object[] {
  const isTheirs = { $eq: ['$$member.identityId', { $literal: identityId }] };
  const own = { $first: { $filter: { input: MEMBERS, as: 'member', cond: isTheirs, limit: 1 } } };
  const shown = { parentId: 1, ...(identityId !== undefined && { role: { $getField: { field: 'role', input: own } } }) };
  return [
    { $match: { ...match, ...LIVE } },
    // most have no parts: their ids, which are read from an index, never leave the store
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
 * Organizations that are part of others. Each stores its parent alone, so that a move is one write, whatever lies below. One whose parent is
 * deleted keeps it, and stands at the top until that is restored. All is read level by level, without the members, who may be many.
 */
export function createOrganizationTree(storage: Storage) {
  const Organizations = storage.model(organizationModel);
  const moves = createTreeMoves({
    storage,
    model: Organizations,
    parentField: 'parentId',
    cycle: errors.cycle,
    missing: errors.notFound,
  });

  /** All that is above these. */
  async function above(placed: readonly Placed[]): Promise<Map<string, Placed>> {
    const known = new Map<string, Placed>();
    for (let level = parentsOf(placed); level.length > 0;) {
      const found = await Organizations.find({ _id: { $in: level } }, { parentId: 1 }).lean<Placed[]>();
      for (const one of found) known.set(one._id, one);
      level = parentsOf(found).filter((id) => !known.has(id));
    }
    return known;
  }

  /**
   * The organizations that have parts, of those that match and of all below them, so many levels deep: whoever knows them finds the parts
   * themselves by `parentId`, however many these are.
   * @param identityId whose own role in each is wanted
   * @throws what `read` does, and of `tooMany` when there are more than MAX_WITH_PARTS
   */
  async function withPartsFrom(
    match: object,
    { read, tooMany, identityId, depth = MAX_DEPTH }: WalkOptions,
  ): Promise<{ known: Map<string, OwnRole>; levels: number }> {
    const known = new Map<string, OwnRole>();
    let levels = 0;
    for (let next: object | undefined = match; next && levels < depth;) {
      const found = (await read(withPartsStages(next, identityId))) as unknown as OwnRole[];
      const level = found.filter(({ _id }) => !known.has(_id));
      for (const one of level) known.set(one._id, one);
      if (known.size > MAX_WITH_PARTS) throw tooMany();
      if (level.length > 0) levels += 1;
      next = level.length > 0 ? { parentId: { $in: level.map(({ _id }) => _id) } } : undefined;
    }
    return { known, levels };
  }

  /** With the roles that an identity has in these itself. */
  async function withRoles(which: object, identityId: string): Promise<OwnRole[]> {
    const fields = { parentId: 1, members: { $elemMatch: { identityId } } };
    const found = await Organizations.find(which, fields).lean<OrganizationRecord[]>();
    return found.map(({ _id, parentId, members }) => ({ _id, parentId, role: members?.[0]?.role }));
  }

  /** @throws errors.notFound when there is no such parent, tooDeep */
  async function checkParent(parentId: string, levelsBelow: number): Promise<void> {
    const parent = await Organizations.findById(parentId, { parentId: 1 }).lean<Placed>();
    if (!parent) throw errors.notFound();
    const levelsAbove = wayUp(parent, await above([parent])).length + 1;
    if (levelsAbove + 1 + levelsBelow > MAX_DEPTH) throw errors.tooDeep();
  }

  return {
    /** Ids of what is above each of these, from the top down. */
    async ancestorsOf(placed: readonly { id: string; parentId: string | null }[]): Promise<Map<string, string[]>> {
      const all = placed.map(({ id, parentId }) => ({ _id: id, parentId }));
      const known = await above(all);
      return new Map(all.map((one) => [one._id, wayUp(one, known).map(({ _id }) => _id).toReversed()])); // prettier-ignore
    },

    /** What lies below, so many levels deep, is that whose `parentId` is one of these; of depth 1 are the children. */
    async parentsBelow(organizationId: string, depth: number | undefined, reads: TreeReads): Promise<string[]> {
      if (depth === 1) return [organizationId];
      const { known } = await withPartsFrom({ _id: organizationId }, { ...reads, depth });
      return [...known.keys()];
    },

    /** Whether a new organization may lie there. @throws errors.notFound when there is no such parent, tooDeep */
    mayBeginBelow: (parentId: string) => checkParent(parentId, 0),

    /**
     * Puts an organization below another, or at the top; what lies below it moves along.
     * @throws errors.notFound (of either), cycle, tooDeep
     */
    async move(organizationId: string, parentId: string | null): Promise<void> {
      if (parentId === null) {
        const { matchedCount } = await Organizations.updateOne({ _id: organizationId }, { $set: { parentId, moving: null } });
        if (matchedCount === 0) throw errors.notFound();
        return;
      }
      const read = (stages: object[]) => Organizations.collection.aggregate(stages).toArray();
      const { levels } = await withPartsFrom({ _id: organizationId }, { read, tooMany: errors.tooDeep });
      await checkParent(parentId, levels);
      await moves.move(organizationId, parentId, {});
    },

    /**
     * The role of an identity in a live organization, which wins, or else the highest in one above it.
     * @throws errors.notFound
     */
    async roleOf(organizationId: string, identityId: string): Promise<HeldRole | undefined> {
      const [own] = await withRoles({ _id: organizationId }, identityId);
      if (!own) throw errors.notFound();
      if (own.role !== undefined) return { inheritedFrom: null, role: own.role };
      const known = await above([own]);
      if (known.size === 0) return undefined;
      const held = new Map((await withRoles({ _id: { $in: [...known.keys()] } }, identityId)).map((one) => [one._id, one]));
      return highest(wayUp(own, known).flatMap(({ _id }) => held.get(_id) ?? []).toReversed()); // prettier-ignore
    },

    /** The roles that an identity has in what is part of one of these organizations, unless it has one of its own there. */
    async inheritedBelow(identityId: string, reads: TreeReads): Promise<Map<string, HeldRole>> {
      const { known } = await withPartsFrom({ 'members.identityId': identityId }, { ...reads, identityId });
      const held = [...known.values()].map((one) => [one._id, highest([one, ...wayUp(one, known)].toReversed())] as const);
      return new Map(held.filter((entry): entry is [string, HeldRole] => entry[1] !== undefined));
    },
  };
}
export type OrganizationTree = ReturnType<typeof createOrganizationTree>;
