import { factorErrors } from '@tandem/core';
import type { Storage } from '@tandem/storage';
import { organizationModel, type OrganizationRecord } from './organization.model.js';
import { isOrganizationRole, type OrganizationRole } from './roles.js';

/**
 * The roles that identities hold in organizations.
 * @param hasFactor whether an identity has a second factor, or never signs in
 */
export function createOrganizationRoles(storage: Storage, hasFactor: (identityId: string) => Promise<boolean>) {
  const Organizations = storage.model(organizationModel);

  /** The role, and whether the organization requires a factor for it; undefined when the identity is not a member. */
  async function read(organizationId: string, identityId: string) {
    const found = (await Organizations.collection.findOne({ _id: organizationId, deletedAt: null } as object, {
      projection: { members: { $elemMatch: { identityId } }, mfaRequired: 1 },
    })) as Pick<OrganizationRecord, 'members' | 'mfaRequired'> | null;
    const role = found?.members?.[0]?.role;
    return role !== undefined && isOrganizationRole(role) ? { role, mfaRequired: found?.mfaRequired === true } : undefined;
  }

  return {
    /**
     * An identity's own role in a live organization; undefined when it is not a member. For core's rule:
     * `organizationRole('organizationId', ['owner', 'admin'], organizations.roleOf)`.
     * @throws factorErrors.required when the organization requires a factor, and the identity has none (decisions F5)
     */
    async roleOf(organizationId: string, identityId: string): Promise<OrganizationRole | undefined> {
      const held = await read(organizationId, identityId);
      if (held?.mfaRequired && !(await hasFactor(identityId))) throw factorErrors.required();
      return held?.role;
    },

    /** Whether an organization of the identity's requires a factor. */
    async anyRequiresFactor(identityId: string): Promise<boolean> {
      return (await Organizations.exists({ 'members.identityId': identityId, mfaRequired: true })) !== null;
    },

    /** The identity's role in each of the given organizations that exist; null where it is not a member. */
    async rolesIn(organizationIds: readonly string[], identityId: string): Promise<Map<string, OrganizationRole | null>> {
      const own = { members: { $elemMatch: { identityId } } };
      const found = await Organizations.find({ _id: { $in: organizationIds } }, own).lean<OrganizationRecord[]>();
      const roleOf = ({ members }: OrganizationRecord) => members?.[0]?.role ?? '';
      return new Map(found.map((one) => [one._id, isOrganizationRole(roleOf(one)) ? (roleOf(one) as OrganizationRole) : null]));
    },
  };
}
