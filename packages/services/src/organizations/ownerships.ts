import { randomBytes } from 'node:crypto';
import type { IdentityTypeIds } from '@tandem/core';
import { isDuplicateKey, type Storage } from '@tandem/storage';
import type { AccessState } from '../identities/access-state.js';
import { LINE_MAX } from '../shared/schemas.js';
import { MEMBERS, SET_OWNER_NAMES, organizationModel, type MemberRecord, type OrganizationRecord } from './organization.model.js';
import { isOrganizationRole, rolesAbove } from './roles.js';

interface OwnershipsOptions {
  storage: Storage;
  /** Those of the given identities that live and are not about to be erased. */
  staying(identityIds: readonly string[]): Promise<Set<string>>;
  /** Those that live and are no service accounts. */
  people(identityIds: readonly string[]): Promise<Set<string>>;
  accessStatesOf(identityIds: readonly string[]): Promise<Map<string, AccessState>>;
  typeIds: IdentityTypeIds;
  /** Deletes an organization with all that belongs to it. */
  deleteOrganization(organizationId: string): Promise<void>;
}

/** Retries of a change when the members have changed between look and write. */
const ATTEMPTS = 10;
const LIVING = { deletedAt: null };
const DELETED = { deletedAt: { $gt: new Date(0) } };
const rankOf = ({ role }: MemberRecord) => (isOrganizationRole(role) ? rolesAbove(role).length : Number.POSITIVE_INFINITY);
const idsOf = (members: readonly MemberRecord[]) => members.map(({ identityId }) => identityId);

/** What becomes of organizations whose owner goes (decisions F8). */
export function createOwnerships(options: OwnershipsOptions) {
  const { storage, staying, people, accessStatesOf, typeIds, deleteOrganization } = options;
  const { collection } = storage.model(organizationModel);

  async function ownedBy(identityId: string, filter: object): Promise<OrganizationRecord[]> {
    const owned = { members: { $elemMatch: { identityId, role: 'owner' } }, ...filter };
    const found = collection.find(owned, { projection: { members: 1, name: 1, deletedAt: 1 } });
    return (await found.toArray()) as unknown as OrganizationRecord[];
  }

  const ownersBeside = ({ members }: OrganizationRecord, identityId: string) =>
    idsOf(members.filter((member) => member.role === 'owner' && member.identityId !== identityId));

  /** Makes who goes a member like others, and somebody else an owner. @returns whether the members were still the same */
  async function give({ _id }: OrganizationRecord, from: string, to: MemberRecord | undefined, name?: string): Promise<boolean> {
    const isFrom = { $eq: ['$$member.identityId', from] };
    const isTo = { $eq: ['$$member.identityId', to?.identityId ?? null] };
    const role = { $cond: [isFrom, 'member', { $cond: [isTo, 'owner', '$$member.role'] }] };
    const members = { $map: { input: MEMBERS, as: 'member', in: { $mergeObjects: ['$$member', { role }] } } };
    const conditions = to ? [{ members: { $elemMatch: { identityId: to.identityId, role: to.role } } }] : [];
    const filter = { _id, $and: [{ members: { $elemMatch: { identityId: from, role: 'owner' } } }, ...conditions] } as object;
    const set = { members, updatedAt: storage.clock.now(), ...(name !== undefined && { name: { $literal: name } }) };
    return (await collection.updateOne(filter, [{ $set: set }, SET_OWNER_NAMES])).matchedCount > 0;
  }

  /** To the first that does not own another organization of this name. @returns false where the members have changed */
  async function giveToOneOf(organization: OrganizationRecord, from: string, heirs: readonly MemberRecord[]): Promise<boolean> {
    for (const heir of heirs) {
      try {
        return await give(organization, from, heir);
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
    }
    // another each time, so that no heir can take all of them
    const suffix = ` ${randomBytes(4).toString('hex')}`;
    return give(organization, from, heirs[0], organization.name.slice(0, LINE_MAX - suffix.length) + suffix);
  }

  /** @returns false where the members have changed meanwhile */
  async function leave(organization: OrganizationRecord, identityId: string): Promise<boolean> {
    const { members, deletedAt, _id } = organization;
    const owners = await staying(ownersBeside(organization, identityId));
    if (owners.size > 0) return give(organization, identityId, undefined);
    const others = members.filter((member) => member.identityId !== identityId);
    const ids = idsOf(others);
    const [stay, human, states] = await Promise.all([staying(ids), people(ids), accessStatesOf(ids)]);
    const canAct = ({ identityId }: MemberRecord) => {
      const state = states.get(identityId);
      return state !== undefined && !state.isBarred && state.typeId !== typeIds.guest;
    };
    const heirs = others
      .filter((member) => stay.has(member.identityId) && human.has(member.identityId))
      .toSorted(
        (one, other) =>
          Number(canAct(other)) - Number(canAct(one)) ||
          rankOf(one) - rankOf(other) ||
          Number(one.joinedAt) - Number(other.joinedAt),
      );
    if (heirs.length > 0) return giveToOneOf(organization, identityId, heirs);
    if (deletedAt === null) await deleteOrganization(_id);
    return give(organization, identityId, undefined);
  }

  return {
    /** Whether somebody is the only owner of a living organization who stays. */
    async isSoleOwner(identityId: string): Promise<boolean> {
      const owned = await ownedBy(identityId, LIVING);
      const others = await staying([...new Set(owned.flatMap((one) => ownersBeside(one, identityId)))]);
      return owned.some((one) => !ownersBeside(one, identityId).some((id) => others.has(id)));
    },

    /**
     * Makes an owner a member like others. Where no other owner stays, the admin who has been a member longest becomes one, else the
     * member; who is locked, deactivated or a guest only if nobody else is left. An organization without anybody else is deleted.
     * Repeatable.
     */
    async passOn(identityId: string): Promise<void> {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        // each has an index of its own; deleted ones again, since one may have been deleted in between
        const owned: OrganizationRecord[] = [];
        for (const filter of [DELETED, LIVING, DELETED]) owned.push(...(await ownedBy(identityId, filter)));
        if (owned.length === 0) return;
        for (const organization of owned) await leave(organization, identityId);
      }
      throw new Error('the members of an organization change faster than its ownership can be passed on');
    },
  };
}
export type Ownerships = ReturnType<typeof createOwnerships>;
