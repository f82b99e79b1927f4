import { isDuplicateKey, type Fence, type Storage } from '@tandem/storage';
import { createUnitNotes, noting, notNoted } from '../shared/unit-notes.js';
import { MEMBERS, SET_OWNER_NAMES, organizationModel, type OrganizationRecord } from './organization.model.js';
import { MAX_MEMBERS, organizationErrors as errors } from './organizations.errors.js';
import { rolesAbove, type OrganizationRole } from './roles.js';

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

/** Adds identities to organizations, as steps of a unit of work, and removes those that a unit added. Each function makes one write. */
export function createJoinings(storage: Storage) {
  const Organizations = storage.model(organizationModel);
  const notes = createUnitNotes(Organizations);
  const options = { updatePipeline: true } as const;

  async function nameOf(organizationId: string): Promise<string | undefined> {
    const found = await Organizations.findById(organizationId, { name: 1 }).lean<OrganizationRecord>();
    return found?.name;
  }

  return {
    /**
     * Makes an identity a member, once per unit, so that a retry does not add back a member who was removed since. An existing
     * member gets the role unless it has a higher one.
     * @returns whether the organization exists
     * @throws errors.nameTaken when a new owner owns another organization of this name, tooManyMembers
     */
    async join({ unitId, organizationId, identityId, role, joinedAt }: Joining, { open }: Pick<Fence, 'open'>): Promise<boolean> {
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
        const stages = [{ $set: { members } }, SET_OWNER_NAMES, noting(unitId)];
        const { matchedCount } = await Organizations.updateOne(filter, stages, options);
        if (matchedCount > 0 || (await notes.has(organizationId, unitId))) return true;
      } catch (error) {
        throw isDuplicateKey(error) ? errors.nameTaken({ name: (await nameOf(organizationId)) ?? '' }) : error;
      }
      if ((await nameOf(organizationId)) !== undefined) throw errors.tooManyMembers();
      return false;
    },

    /** Removes the note that `join` has left, once no retry can follow. */
    forget: ({ unitId, organizationId }: Joining) => notes.remove(organizationId, unitId),

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

    /** Removes a member who is no owner, if there is one. */
    async leave(organizationId: string, identityId: string): Promise<void> {
      const others = { $filter: { input: MEMBERS, as: 'member', cond: { $ne: ['$$member.identityId', identityId] } } };
      const filter = { _id: organizationId, members: { $elemMatch: { identityId, role: { $ne: 'owner' } } } };
      await Organizations.updateOne(filter, [{ $set: { members: others } }, SET_OWNER_NAMES], options);
    },

    /** Undoes a joining: restores the previous role or removes the membership, unless that would leave no owner. */
    async takeBack(
      { unitId, organizationId, identityId, role, joinedAt }: Joining,
      previousRole: string | undefined,
    ): Promise<void> {
      const isOwn = { $and: [{ $eq: ['$$member.identityId', identityId] }, { $eq: ['$$member.role', role] }] };
      const restored = { $cond: [isOwn, { $mergeObjects: ['$$member', { role: previousRole }] }, '$$member'] };
      const isOther = { $or: [{ $ne: ['$$member.identityId', identityId] }, { $ne: ['$$member.joinedAt', joinedAt] }] };
      const members =
        previousRole === undefined
          ? { $filter: { input: MEMBERS, as: 'member', cond: isOther } }
          : { $map: { input: MEMBERS, as: 'member', in: restored } };
      const hasOtherOwner = { members: { $elemMatch: { identityId: { $ne: identityId }, role: 'owner' } } };
      const filter = {
        _id: organizationId,
        'members.identityId': identityId,
        ...(role === 'owner' && hasOtherOwner),
        // `joinedAt` identifies a membership made by this unit; a changed role needs the note
        ...(previousRole !== undefined && { notes: unitId }),
      };
      await Organizations.updateOne(filter, [{ $set: { members } }, SET_OWNER_NAMES], options);
      await notes.remove(organizationId, unitId);
    },
  };
}
