import type { Storage } from '@tandem/storage';
import { isDuplicateKey } from '@tandem/storage';
import { MEMBERS, SET_OWNER_NAMES, organizationModel, type OrganizationRecord } from './organization.model.js';
import { MAX_MEMBERS, organizationErrors as errors } from './organizations.errors.js';
import { rolesAbove, type OrganizationRole } from './roles.js';

/** A membership that somebody was promised. */
export interface Joining {
  organizationId: string;
  identityId: string;
  role: OrganizationRole;
  joinedAt: Date;
}

export type Joinings = ReturnType<typeof createJoinings>;

/** How who was invited joins: each way is one write, and may be gone again with the same end, as units of work need it. */
export function createJoinings(storage: Storage) {
  const Organizations = storage.model(organizationModel);
  const options = { updatePipeline: true } as const;

  async function nameOf(organizationId: string): Promise<string | undefined> {
    const found = await Organizations.findById(organizationId, { name: 1 }).lean<OrganizationRecord>();
    return found?.name;
  }

  return {
    /**
     * Makes an identity a member; one that is a member already gets the role unless it has a higher one.
     * @returns whether there is such an organization
     * @throws errors.nameTaken (of a new owner's other organization), tooManyMembers
     */
    async join({ organizationId, identityId, role, joinedAt }: Joining): Promise<boolean> {
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
        const filter = { _id: organizationId, ...hasRoom };
        const { matchedCount } = await Organizations.updateOne(filter, [{ $set: { members } }, SET_OWNER_NAMES], options);
        if (matchedCount > 0) return true;
      } catch (error) {
        throw isDuplicateKey(error) ? errors.nameTaken({ name: (await nameOf(organizationId)) ?? '' }) : error;
      }
      if ((await nameOf(organizationId)) !== undefined) throw errors.tooManyMembers();
      return false;
    },

    /** Takes a joining back: the role before it, or the membership itself; unless no owner would remain. */
    async takeBack({ organizationId, identityId, role, joinedAt }: Joining, previousRole: string | undefined): Promise<void> {
      const isOwn = { $and: [{ $eq: ['$$member.identityId', identityId] }, { $eq: ['$$member.role', role] }] };
      const restored = { $cond: [isOwn, { $mergeObjects: ['$$member', { role: previousRole }] }, '$$member'] };
      const isOther = { $or: [{ $ne: ['$$member.identityId', identityId] }, { $ne: ['$$member.joinedAt', joinedAt] }] };
      const members =
        previousRole === undefined
          ? { $filter: { input: MEMBERS, as: 'member', cond: isOther } }
          : { $map: { input: MEMBERS, as: 'member', in: restored } };
      const hasOtherOwner = { members: { $elemMatch: { identityId: { $ne: identityId }, role: 'owner' } } };
      const filter = { _id: organizationId, 'members.identityId': identityId, ...(role === 'owner' && hasOtherOwner) };
      await Organizations.updateOne(filter, [{ $set: { members } }, SET_OWNER_NAMES], options);
    },
  };
}
