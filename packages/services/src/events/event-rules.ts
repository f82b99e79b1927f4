import { admin, anyOf, organizationRole, type AnyRule } from '@tandem/core';
import { isManaging, type OrganizationRole } from '../organizations/roles.js';
import type { Actor } from '../shared/actor.js';

export type RoleOf = (organizationId: string, identityId: string) => Promise<OrganizationRole | undefined>;

/** Who reads events: admins all, an organization's owners and admins those of its records. */
export const readsEvents = (roleOf: RoleOf): AnyRule =>
  anyOf(admin, organizationRole('organizationId', ['owner', 'admin'], roleOf));

/** Whether the rule still lets a reader pass. */
export async function stillReads(roleOf: RoleOf, actor: Actor, organizationId: string | undefined): Promise<boolean> {
  if (actor.isAdmin) return true;
  return organizationId !== undefined && isManaging(await roleOf(organizationId, actor.identityId));
}
