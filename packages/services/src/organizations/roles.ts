/** Roles in an organization, highest first (spec, "Authorization rules"). */
export const ORGANIZATION_ROLES = ['owner', 'admin', 'member'] as const;
export type OrganizationRole = (typeof ORGANIZATION_ROLES)[number];

/** The roles that manage members and invitations. */
export const MANAGING_ROLES = ['owner', 'admin'] as const satisfies readonly OrganizationRole[];

export function isManaging(role: OrganizationRole | null | undefined): boolean {
  return MANAGING_ROLES.some((managing) => managing === role);
}

/** Whether a text names a role. */
export function isOrganizationRole(text: string): text is OrganizationRole {
  return ORGANIZATION_ROLES.some((role) => role === text);
}

/** The roles that rank higher than this one. */
export function rolesAbove(role: OrganizationRole): OrganizationRole[] {
  return ORGANIZATION_ROLES.slice(0, ORGANIZATION_ROLES.indexOf(role));
}
