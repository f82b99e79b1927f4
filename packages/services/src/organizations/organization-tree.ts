import type { Storage } from '@tandem/storage';
import { createTreeMoves } from '../shared/tree-moves.js';
import { organizationModel, type OrganizationRecord } from './organization.model.js';
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
function wayUp({ parentId }: Placed, known: ReadonlyMap<string, Placed>): Placed[] {
  const above: Placed[] = [];
  for (let at = known.get(parentId ?? ''); at && above.length < known.size; at = known.get(at.parentId ?? '')) above.push(at);
  return above;
}

/** The highest of the roles held in these, which stand from the top down; of equal ones that nearest to the top. */
function highest(above: readonly OwnRole[]): HeldRole | undefined {
  const held = ORGANIZATION_ROLES.flatMap((role) => above.find((one) => one.role === role) ?? [])[0];
  return held?.role === undefined ? undefined : { inheritedFrom: held._id, role: held.role };
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

  /** All that is below these, so many levels deep. */
  async function below(ids: readonly string[], depth = Infinity): Promise<{ known: Map<string, Placed>; levels: number }> {
    const known = new Map<string, Placed>();
    let levels = 0;
    for (let level = [...ids]; level.length > 0 && levels < depth; levels++) {
      const found = await Organizations.find({ parentId: { $in: level } }, { parentId: 1 }).lean<Placed[]>();
      if (found.length === 0) break;
      level = found.map(({ _id }) => _id).filter((id) => !known.has(id));
      for (const one of found) known.set(one._id, one);
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

    /** Ids of what lies below, so many levels deep; 1 are the children. */
    async descendantsOf(organizationId: string, depth: number | undefined): Promise<string[]> {
      return [...(await below([organizationId], depth)).known.keys()];
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
      await checkParent(parentId, (await below([organizationId])).levels);
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

    /** The organizations in which an identity has a role by one above them alone. */
    async inheritedBy(identityId: string): Promise<{ organizationId: string; held: HeldRole }[]> {
      const own = new Map((await withRoles({ 'members.identityId': identityId }, identityId)).map((one) => [one._id, one]));
      const { known } = await below([...own.keys()]);
      const all = new Map<string, Placed>([...known, ...own]);
      return [...known.values()].flatMap((one) => {
        const held = highest(wayUp(one, all).flatMap(({ _id }) => own.get(_id) ?? []).toReversed()); // prettier-ignore
        return held && !own.has(one._id) ? [{ organizationId: one._id, held }] : [];
      });
    },
  };
}
export type OrganizationTree = ReturnType<typeof createOrganizationTree>;
