import { behindChoice, type ListRows, type Stage, viewOf } from '@tandem/lists';
import type { Model } from '@tandem/storage';
import { HIDDEN, MEMBERS, organizationModel, type OrganizationRecord } from './organization.model.js';
import type { HeldRole } from './organizations.schemas.js';
import { ORGANIZATION_ROLES } from './roles.js';

/**
 * The organizations in which an identity has a role, either its own, shown in the row at `member`, or an inherited one.
 * @param held inherited roles by parent organization: they apply to its direct parts
 * @param roles only organizations where it has one of these roles; default any
 */
export function membershipsOf(
  organizations: Model<OrganizationRecord>,
  identityId: string,
  held: ReadonlyMap<string, HeldRole>,
  roles: readonly string[] | undefined,
): ListRows {
  const isTheirs = { $eq: ['$$member.identityId', { $literal: identityId }] };
  const own = { $first: { $filter: { input: MEMBERS, as: 'member', cond: isTheirs, limit: 1 } } };
  const showOwn = [{ $set: { member: own } }, { $unset: [...HIDDEN] }];
  const hasOwn = {
    members: { $elemMatch: { identityId, ...(roles && { role: { $in: roles } }) } },
    // lets the query use the index
    'members.identityId': identityId,
    deletedAt: null,
  };
  const wanted = ORGANIZATION_ROLES.filter((role) => !roles || roles.includes(role));
  const inherits = (parents: string[]) => ({
    parentId: { $in: parents },
    'members.identityId': { $ne: identityId },
    deletedAt: null,
  });
  const parentsOf = (role: string) => [...held].filter(([, one]) => one.role === role).map(([id]) => id);
  const byRole = wanted.map((role) => ({ role, parents: parentsOf(role) })).filter(({ parents }) => parents.length > 0);

  /** For queries on `member.role`. Reads the rows of each role in one search, so that no row needs a lookup of its role. */
  const withRoles: Stage[] = [
    { $match: hasOwn },
    ...showOwn,
    ...byRole.map(({ role, parents }) => ({
      $unionWith: {
        coll: organizationModel.collectionName,
        pipeline: [{ $match: inherits(parents) }, { $set: { member: { role } } }, { $unset: [...HIDDEN] }],
      },
    })),
  ];
  const parents = byRole.flatMap((one) => one.parents);
  const any = { $match: parents.length > 0 ? { $or: [hasOwn, inherits(parents)] } : hasOwn };
  return viewOf(organizations, (asked) =>
    JSON.stringify(asked).includes('member.role') ? [...withRoles, ...asked] : [any, ...behindChoice(asked, showOwn)],
  );
}
