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

  /** The identity's roles by organization, as far as it is a member. @throws as `roleOf` */
  async function rolesOf(organizationIds: readonly string[], identityId: string): Promise<Map<string, OrganizationRole>> {
    const filter = { _id: { $in: organizationIds }, deletedAt: null } as object;
    const projection = { members: { $elemMatch: { identityId } }, mfaRequired: 1 };
    const found = (await Organizations.collection.find(filter, { projection }).toArray()) as unknown as OrganizationRecord[];
    const held = found.flatMap(({ _id, members, mfaRequired }) => {
      const { role = '' } = members?.[0] ?? {};
      return isOrganizationRole(role) ? { _id, role, mfaRequired } : [];
    });
    if (held.some(({ mfaRequired }) => mfaRequired) && !(await hasFactor(identityId))) throw factorErrors.required();
    return new Map(held.map(({ _id, role }) => [_id, role]));
  }

  return {
    rolesOf,

    /**
     * An identity's own role in a live organization; undefined when it is not a member. For core's rule:
     * `organizationRole('organizationId', ['owner', 'admin'], organizations.roleOf)`.
     * @throws factorErrors.required when the organization requires a factor, and the identity has none (decisions F5)
     */
    async roleOf(organizationId: string, identityId: string): Promise<OrganizationRole | undefined> {
      return (await rolesOf([organizationId], identityId)).get(organizationId);
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
