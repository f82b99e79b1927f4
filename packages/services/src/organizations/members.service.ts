import { requestErrors, ruleErrors } from '@tandem/core';
import { type ListAnswer, type ListQuery, type Lists, viewOf } from '@tandem/lists';
import { type Fence, type Storage } from '@tandem/storage';
import { identityErrors } from '../identities/identities.errors.js';
import type { Actor } from '../shared/actor.js';
import { notesBeside } from './joinings.js';
import {
  MEMBERS,
  SET_OWNER_NAMES,
  organizationModel,
  refusesName,
  type MemberRecord,
  type OrganizationRecord,
} from './organization.model.js';
import { MAX_MEMBERS, organizationErrors as errors } from './organizations.errors.js';
import { memberList, type GivenMember, type Member } from './organizations.schemas.js';
import { createNameCheck } from './owner-names.js';
import { isOrganizationRole, rolesAbove, type OrganizationRole } from './roles.js';

export type MembersService = ReturnType<typeof createMembersService>;

interface MembersOptions {
  storage: Storage;
  lists: Lists;
  /** Those of the given identities that exist. */
  existingIdentities(identityIds: readonly string[]): Promise<Set<string>>;
  /** Those that live and are not about to be erased (decisions F8). */
  staying(identityIds: readonly string[]): Promise<Set<string>>;
  /** Those that exist and are no service accounts, which own nothing (decisions E4). */
  people(identityIds: readonly string[]): Promise<Set<string>>;
  /**
   * Runs a change that may cost these identities a role, then withdraws the invitations they may no longer make. The change must
   * only write while `open` matches.
   */
  reviewAfter(identityIds: readonly string[], change: (open: Fence['open']) => Promise<void>): Promise<void>;
  /** Withdraws what these people are invited to in an organization. */
  withdrawInvitations(identityIds: readonly string[], organizationId: string): Promise<void>;
}

/** A condition that a change was judged by. Its write requires it to be still true. */
type Condition = Record<string, unknown>;
type Judge = (members: readonly MemberRecord[], name: string) => Promise<Condition[]>;

/** Retries of a change when the members have changed between check and write. */
const ATTEMPTS = 10;

const withRole = (identityIds: readonly string[], roles: readonly string[]) => ({
  members: { $elemMatch: { identityId: { $in: identityIds }, role: { $in: roles } } },
});
const withoutRole = (identityIds: readonly string[], roles: readonly string[]) => ({
  $nor: [withRole(identityIds, roles)],
});

/** The members after an upsert: existing ones with their new roles, then the new ones. */
function upserted(given: readonly GivenMember[], joinedAt: Date) {
  const ids = { $literal: given.map(({ identityId }) => identityId) };
  const roles = { $literal: given.map(({ role }) => role) };
  const role = { $arrayElemAt: [roles, { $indexOfArray: [ids, '$$member.identityId'] }] };
  const isGiven = { $in: ['$$member.identityId', ids] };
  const changed = {
    $map: { input: MEMBERS, as: 'member', in: { $cond: [isGiven, { $mergeObjects: ['$$member', { role }] }, '$$member'] } },
  };
  const isNew = { $not: [{ $in: ['$$given.identityId', { $ifNull: ['$members.identityId', []] }] }] };
  const incoming = { $literal: given.map((member) => ({ ...member, joinedAt })) };
  return { $concatArrays: [changed, { $filter: { input: incoming, as: 'given', cond: isNew } }] };
}

/** Shows a row of the members view. */
function show({ _id, role, joinedAt }: Pick<MemberRecord, 'role' | 'joinedAt'> & { _id: string }): Member {
  return { identityId: _id, role, joinedAt: joinedAt?.toISOString() ?? null };
}

/** Shows an element of a record. */
const showElement = ({ identityId, ...member }: MemberRecord) => show({ _id: identityId, ...member });

/** Members of organizations (decisions R7). Each change is one write, conditional on the facts it was judged by. */
export function createMembersService(options: MembersOptions) {
  const { storage, lists, existingIdentities, staying, people, reviewAfter, withdrawInvitations } = options;
  const Organizations = storage.model(organizationModel);
  const expectFreeName = createNameCheck(storage);

  lists.tell('member', memberList, { show: showElement });

  /** Judges and writes, and retries if the members have changed in between. */
  async function change(organizationId: string, judge: Judge, set: object, open?: Fence['open']): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const found = await Organizations.findById(organizationId, { members: 1, name: 1 }).lean<OrganizationRecord>();
      if (!found) throw errors.notFound();
      const conditions = await judge(found.members ?? [], found.name);
      const filter = { _id: organizationId, ...open, ...(conditions.length > 0 && { $and: conditions }) };
      const { matchedCount } = await Organizations.updateOne(filter, [{ $set: set }, SET_OWNER_NAMES], {
        updatePipeline: true,
      }).catch((error: unknown) => {
        throw refusesName(error) ? errors.nameTaken({ name: found.name }) : error;
      });
      if (matchedCount > 0) return;
    }
    throw requestErrors.unavailable({ retryAfter: 1 });
  }

  /**
   * Requires the actor to rank at least as high as every role given or taken. Admins always may.
   * @throws ruleErrors.notAdmin, like rules that all fail (decisions A17)
   */
  function authority(
    actor: Actor,
    members: readonly MemberRecord[],
    touched: { identityIds: readonly string[]; given: readonly OrganizationRole[] },
  ): Condition[] {
    if (actor.isAdmin) return [];
    const role = members.find(({ identityId }) => identityId === actor.identityId)?.role;
    if (role !== 'owner' && role !== 'admin') throw ruleErrors.notAdmin();
    const above: readonly string[] = rolesAbove(role);
    const outranks = members.some((member) => touched.identityIds.includes(member.identityId) && above.includes(member.role));
    if (outranks || touched.given.some((one) => above.includes(one))) throw ruleErrors.notAdmin();
    return [withRole([actor.identityId], [role]), ...(above.length > 0 ? [withoutRole(touched.identityIds, above)] : [])];
  }

  /**
   * Requires an owner who stays outside `identityIds`, unless none of `identityIds` is an owner.
   * @throws errors.noOwnerLeft
   */
  async function ownerRemains(members: readonly MemberRecord[], identityIds: readonly string[]): Promise<Condition[]> {
    const owners = members.filter(({ role }) => role === 'owner').map(({ identityId }) => identityId);
    if (!owners.some((id) => identityIds.includes(id))) return [withoutRole(identityIds, ['owner'])];
    const living = await staying(owners.filter((id) => !identityIds.includes(id)));
    if (living.size === 0) throw errors.noOwnerLeft();
    return [withRole([...living], ['owner'])];
  }

  /**
   * Withdraws invitations by which those whom the actor removes or demotes could take the change back; one's own stay. Called before
   * the write, so that nobody accepts in between, and no crash leaves them.
   */
  function withdrawOf(identityIds: readonly string[], organizationId: string, actor: Actor): Promise<void> {
    const others = identityIds.filter((id) => id !== actor.identityId);
    return withdrawInvitations(others, organizationId);
  }

  return {
    /**
     * Gives identities roles, adding those who are not members; all or none.
     * @throws errors.invalidRoles, notFound, noOwnerLeft, nameTaken when a new owner owns another organization of this name,
     * tooManyMembers; identityErrors.notFound when one does not exist; ruleErrors.notAdmin when a role outranks the actor's
     */
    async upsert(organizationId: string, given: readonly GivenMember[], actor: Actor): Promise<void> {
      const identityIds = given.map(({ identityId }) => identityId);
      const roles = given.map(({ role }) => role).filter(isOrganizationRole);
      if (roles.length < given.length) throw errors.invalidRoles();
      const demoted = given.filter(({ role }) => role !== 'owner').map(({ identityId }) => identityId);
      const owners = identityIds.filter((id) => !demoted.includes(id));
      const judge: Judge = async (members, name) => {
        const mayDo = authority(actor, members, { identityIds, given: roles });
        const existing = await existingIdentities(identityIds);
        if (existing.size < identityIds.length) throw identityErrors.notFound();
        if (owners.length > 0 && (await people(owners)).size < owners.length) throw errors.invalidRoles();
        // a new owner who is about to be erased does not count
        const isHandedOver = owners.length > 0 && (await staying(owners)).size > 0;
        const remains = isHandedOver ? [] : await ownerRemains(members, demoted);
        const newcomers = identityIds.filter((id) => !members.some(({ identityId }) => identityId === id));
        if (members.length + newcomers.length > MAX_MEMBERS) throw errors.tooManyMembers();
        const hasRoom = { [`members.${MAX_MEMBERS - newcomers.length}`]: { $exists: false } };
        if (owners.length > 0) await expectFreeName(organizationId, name, owners);
        await withdrawOf(demoted, organizationId, actor);
        return [...mayDo, ...remains, ...(newcomers.length > 0 ? [hasRoom] : [])];
      };
      const set = { members: upserted(given, storage.clock.now()), notes: notesBeside(identityIds) };
      const run = (open?: Fence['open']) => change(organizationId, judge, set, open);
      await (demoted.length > 0 ? reviewAfter(demoted, run) : run());
    },

    /**
     * Removes a member. Members may remove themselves.
     * @throws errors.notFound, memberNotFound, noOwnerLeft; ruleErrors.notAdmin when the actor may not
     */
    async remove(organizationId: string, identityId: string, actor: Actor): Promise<void> {
      const judge: Judge = async (members) => {
        const isMember = members.some((member) => member.identityId === identityId);
        const isLeaving = isMember && actor.identityId === identityId;
        const mayDo = isLeaving ? [] : authority(actor, members, { identityIds: [identityId], given: [] });
        if (!isMember) throw errors.memberNotFound();
        const remains = await ownerRemains(members, [identityId]);
        await withdrawOf([identityId], organizationId, actor);
        return [...mayDo, ...remains, { 'members.identityId': identityId }];
      };
      const others = { $filter: { input: MEMBERS, as: 'member', cond: { $ne: ['$$member.identityId', identityId] } } };
      const set = { members: others, notes: notesBeside([identityId]) };
      await reviewAfter([identityId], (open) => change(organizationId, judge, set, open));
    },

    /** The members, latest first. @throws errors.notFound */
    async list(organizationId: string, query: ListQuery): Promise<ListAnswer<Member>> {
      const member = { _id: '$members.identityId', role: '$members.role', joinedAt: '$members.joinedAt' };
      const members = viewOf(Organizations, [
        { $match: { _id: organizationId, deletedAt: null } },
        { $unwind: '$members' },
        { $replaceRoot: { newRoot: member } },
      ]);
      const [answer, found] = await Promise.all([
        lists.answer(memberList, members, { cursorScope: { organizationId }, show }, query),
        Organizations.exists({ _id: organizationId }),
      ]);
      if (!found) throw errors.notFound();
      return answer;
    },

    /** @throws errors.notFound */
    async isMember(organizationId: string, identityId: string): Promise<boolean> {
      const found = await Organizations.findById(organizationId, {
        members: { $elemMatch: { identityId } },
      }).lean<OrganizationRecord>();
      if (!found) throw errors.notFound();
      return (found.members?.length ?? 0) > 0;
    },
  };
}
