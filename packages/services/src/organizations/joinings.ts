import { isDuplicateKey, type Fence, type Storage } from '@tandem/storage';
import { createUnitNotes, noting, notNoted } from '../shared/unit-notes.js';
import { MEMBERS, SET_OWNER_NAMES, organizationModel, type OrganizationRecord } from './organization.model.js';
import { MAX_MEMBERS, organizationErrors as errors } from './organizations.errors.js';
import { ORGANIZATION_ROLES, rolesAbove, type OrganizationRole } from './roles.js';

/** A membership promised by an invitation. */
export interface Joining {
  /** The unit of work that it is part of. */
  unitId: string;
  organizationId: string;
  identityId: string;
  role: OrganizationRole;
  joinedAt: Date;
}

export type Joinings = ReturnType<typeof createJoinings>;

/** The note of a unit that has made a member. */
const madeBy = ({ unitId, identityId }: Joining) => `${unitId} ${identityId}`;
/** The note of a unit that has raised a member: the role before. */
const raisedFrom = (joining: Joining, role: OrganizationRole) => `${madeBy(joining)} ${role}`;

/** The notes, in a pipeline, without those of how these people joined, so that no unit takes back what is given or taken now. */
export function notesBeside(identityIds: readonly string[]) {
  const about = { $arrayElemAt: [{ $split: ['$$note', ' '] }, 1] };
  const cond = { $not: [{ $in: [about, { $literal: identityIds }] }] };
  return { $filter: { input: { $ifNull: ['$notes', []] }, as: 'note', cond } };
}

/** Adds identities to organizations, as steps of a unit of work, and removes those that a unit added. Each function makes one write. */
export function createJoinings(storage: Storage) {
  const Organizations = storage.model(organizationModel);
  const notes = createUnitNotes(Organizations);
  const options = { updatePipeline: true } as const;

  async function nameOf(organizationId: string): Promise<string | undefined> {
    const found = await Organizations.findById(organizationId, { name: 1 }).lean<OrganizationRecord>();
    return found?.name;
  }

  /** Removes what `join` has noted, once no retry can follow. */
  async function forget(joining: Joining): Promise<void> {
    const beside = [madeBy(joining), ...ORGANIZATION_ROLES.map((role) => raisedFrom(joining, role))];
    await notes.remove(joining.organizationId, joining.unitId, beside);
  }

  return {
    /**
     * Makes an identity a member, once per unit, so that a retry does not add back a member who was removed since. An existing
     * member gets the role unless it has a higher one.
     * @returns whether the organization exists
     * @throws errors.nameTaken when a new owner owns another organization of this name, tooManyMembers
     */
    async join(joining: Joining, { open }: Pick<Fence, 'open'>): Promise<boolean> {
      const { unitId, organizationId, identityId, role, joinedAt } = joining;
      const isOwn = { $eq: ['$$member.identityId', identityId] };
      const isLower = { $not: [{ $in: ['$$member.role', rolesAbove(role)] }] };
      const raised = { $cond: [{ $and: [isOwn, isLower] }, { $mergeObjects: ['$$member', { role }] }, '$$member'] };
      const isMember = { $in: [identityId, { $ifNull: ['$members.identityId', []] }] };
      const members = {
        $concatArrays: [
          { $map: { input: MEMBERS, as: 'member', in: raised } },
          { $cond: [isMember, [], [{ identityId, role, joinedAt }]] },
        ],
      };
      const hasRoom = { $or: [{ 'members.identityId': identityId }, { [`members.${MAX_MEMBERS - 1}`]: { $exists: false } }] };
      try {
        const filter = { _id: organizationId, ...hasRoom, ...notNoted(unitId), ...open };
        const lower = { $filter: { input: MEMBERS, as: 'member', cond: { $and: [isOwn, isLower] } } };
        const made = { $literal: madeBy(joining) };
        const before = { $map: { input: lower, as: 'member', in: { $concat: [made, ' ', '$$member.role'] } } };
        const stages = [noting(unitId, { $cond: [isMember, before, [made]] }), { $set: { members } }, SET_OWNER_NAMES];
        const { matchedCount } = await Organizations.updateOne(filter, stages, options);
        if (matchedCount > 0 || (await notes.has(organizationId, unitId))) return true;
      } catch (error) {
        throw isDuplicateKey(error) ? errors.nameTaken({ name: (await nameOf(organizationId)) ?? '' }) : error;
      }
      if ((await nameOf(organizationId)) !== undefined) throw errors.tooManyMembers();
      return false;
    },

    forget,

    /** The roles of those of the identities that are members of a live organization. */
    async rolesAmong(organizationId: string, identityIds: readonly string[]): Promise<Map<string, string>> {
      const isAsked = { $in: ['$$member.identityId', { $literal: identityIds }] };
      const members = { $filter: { input: MEMBERS, as: 'member', cond: isAsked } };
      const [found] = await Organizations.aggregate<Pick<OrganizationRecord, 'members'>>([
        { $match: { _id: organizationId } },
        { $project: { members } },
      ]);
      return new Map(found?.members.map(({ identityId, role }) => [identityId, role]));
    },

    /** Removes a member who is no owner, if there is one, also in an organization that was deleted meanwhile. */
    async leave(organizationId: string, identityId: string): Promise<void> {
      const others = { $filter: { input: MEMBERS, as: 'member', cond: { $ne: ['$$member.identityId', identityId] } } };
      const filter = { _id: organizationId, members: { $elemMatch: { identityId, role: { $ne: 'owner' } } } };
      const stages = [{ $set: { members: others } }, SET_OWNER_NAMES];
      await Organizations.updateOne(filter, stages, options).setOptions({ deleted: 'include' });
    },

    /**
     * Undoes a joining, also in an organization that was deleted meanwhile: removes the membership that it made, or restores the role
     * that it raised, unless that would leave no owner. Safe to repeat until `forget`.
     */
    async takeBack(joining: Joining): Promise<void> {
      const { unitId, organizationId, identityId, role, joinedAt } = joining;
      const isOwn = { $eq: ['$$member.identityId', identityId] };
      const isNoted = (note: string) => ({ $in: [note, { $ifNull: ['$notes', []] }] });
      // unless it was given a role meanwhile: where that was the same one, the note of the person is gone before that of the unit
      const isUntouched = { $or: [isNoted(madeBy(joining)), { $not: [isNoted(unitId)] }] };
      const isSame = [{ $eq: ['$$member.joinedAt', joinedAt] }, { $eq: ['$$member.role', role] }];
      const isMade = { $and: [isOwn, isUntouched, ...isSame] };
      const kept = { $filter: { input: MEMBERS, as: 'member', cond: { $not: [isMade] } } };
      const restored = ORGANIZATION_ROLES.reduce<object | string>((others, previous) => {
        const wasRaised = isNoted(raisedFrom(joining, previous));
        return { $cond: [wasRaised, { $mergeObjects: ['$$member', { role: previous }] }, others] };
      }, '$$member');
      const isRaised = { $and: [isOwn, { $eq: ['$$member.role', role] }] };
      const members = { $map: { input: kept, as: 'member', in: { $cond: [isRaised, restored, '$$member'] } } };
      const hasOtherOwner = { members: { $elemMatch: { identityId: { $ne: identityId }, role: 'owner' } } };
      const filter = { _id: organizationId, 'members.identityId': identityId, ...(role === 'owner' && hasOtherOwner) };
      const stages = [{ $set: { members } }, SET_OWNER_NAMES];
      await Organizations.updateOne(filter, stages, options).setOptions({ deleted: 'include' });
    },
  };
}
