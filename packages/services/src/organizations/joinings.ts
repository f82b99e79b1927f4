import { isDuplicateKey, type Fence, type Storage } from '@tandem/storage';
import { createUnitNotes, noting, notNoted } from '../shared/unit-notes.js';
import { MEMBERS, SET_OWNER_NAMES, organizationModel, type OrganizationRecord } from './organization.model.js';
import { MAX_MEMBERS, organizationErrors as errors } from './organizations.errors.js';
import { rolesAbove, type OrganizationRole } from './roles.js';

/** A membership that somebody was promised. */
export interface Joining {
  /** Of the unit of work that it is a part of. */
  unitId: string;
  organizationId: string;
  identityId: string;
  role: OrganizationRole;
  joinedAt: Date;
}

export type Joinings = ReturnType<typeof createJoinings>;

/** How who was invited joins, as a part of a unit of work: each way is one write. */
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
     * Makes an identity a member, once for each unit: whoever was removed since stays so. One that is a member already gets the role unless it
     * has a higher one.
     * @returns whether there is such an organization
     * @throws errors.nameTaken (of a new owner's other organization), tooManyMembers
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

    /** Removes what `join` has noted, once nobody runs it again. */
    forget: ({ unitId, organizationId }: Joining) => notes.remove(organizationId, unitId),

    /** Takes a joining back: the role before it, or the membership itself; unless no owner would remain. */
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
        // a membership tells by its time whose it is, a role does not
        ...(previousRole !== undefined && { notes: unitId }),
      };
      await Organizations.updateOne(filter, [{ $set: { members } }, SET_OWNER_NAMES], options);
      await notes.remove(organizationId, unitId);
    },
  };
}
