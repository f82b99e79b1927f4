import {
  admin,
  anyOf,
  authenticatedRoute,
  defineRule,
  factorErrors,
  notGuest,
  organizationRole,
  router,
  ruleErrors,
  self,
} from '@tandem/core';
import { askedBy } from '@tandem/lists';
import { ATTACH_ERRORS } from '../files/files.errors.js';
import { identityErrors } from '../identities/identities.errors.js';
import { actorOf } from '../shared/actor.js';
import {
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  moveRoute,
  patchRoute,
  removeRoute,
  restoreRoute,
} from '../shared/record-routes.js';
import type { MembersService } from './members.service.js';
import { organizationErrors as errors } from './organizations.errors.js';
import {
  HeldRoleSchema,
  IsMemberSchema,
  OrganizationSchema,
  createOrganizationInput,
  descendantList,
  memberInput,
  memberList,
  membershipList,
  moveOrganizationInput,
  organizationAdminPatchInput,
  organizationInput,
  organizationList,
  organizationPatchInput,
  upsertMembersInput,
} from './organizations.schemas.js';
import type { OrganizationsService } from './organizations.service.js';
import { MANAGING_ROLES, ORGANIZATION_ROLES, isManaging, type OrganizationRole } from './roles.js';

interface OrganizationsRouterOptions {
  organizations: OrganizationsService;
  members: MembersService;
}

const organization = {
  one: 'organization',
  many: 'organizations',
  output: OrganizationSchema,
  list: organizationList,
  idInput: organizationInput,
  errors,
};
const role = { one: 'role of member', output: HeldRoleSchema, idInput: memberInput, errors };
const member = { one: 'organization member', many: 'organization members', idInput: memberInput, errors };

/** Only an admin may name an owner other than the caller. */
const ownerIsCaller = defineRule('the future owner', [ruleErrors.notSelf], async ({ ctx, valueOf }) => {
  const ownerId = await valueOf('ownerId');
  if (ownerId !== undefined && ownerId !== ctx.identity.id) throw ruleErrors.notSelf();
});

/** The routes of organizations and their members (spec, "Other services"; decisions R7). */
export function createOrganizationsRouter({ organizations, members }: OrganizationsRouterOptions) {
  const memberOf = (...roles: readonly OrganizationRole[]) =>
    anyOf(admin, organizationRole('organizationId', roles, organizations.roleOf));
  /** Keeps callers from attaching an organization to a parent they do not manage. */
  const managesParent = defineRule(
    'an owner or admin of the parent organization, if one is named',
    [ruleErrors.notMember, ruleErrors.notInRole],
    async ({ ctx, valueOf }) => {
      const parentId = await valueOf('parentId');
      if (parentId === undefined) return;
      const role = await organizations.roleOf(parentId, ctx.identity.id);
      if (role === undefined) throw ruleErrors.notMember();
      if (!isManaging(role)) throw ruleErrors.notInRole();
    },
  );
  /** The owners alone decide this, who have a factor themselves. */
  const requiresOfMembers = defineRule(
    'an owner of the organization with a second factor, to give mfaRequired',
    [ruleErrors.notMember, ruleErrors.notInRole, factorErrors.required],
    async ({ ctx, given, valueOf }) => {
      if ((await given('mfaRequired')) === undefined) return;
      const own = await organizations.roleOf((await valueOf('organizationId')) ?? '', ctx.identity.id);
      if (own === undefined) throw ruleErrors.notMember();
      if (own !== 'owner') throw ruleErrors.notInRole();
      if (!ctx.identity.hasFactor) throw factorErrors.required();
    },
  );
  return router({
    create: createRoute(organization, 'POST /organizations', createOrganizationInput, {
      summary: 'Create an organization and become its owner',
      made: (anId, { ctx }) => organizations.made(anId, actorOf(ctx).isAdmin),
      errors: [errors.nameTaken, errors.notFound, errors.tooDeep, identityErrors.notFound, ...ATTACH_ERRORS],
      allow: [notGuest, anyOf(admin, ownerIsCaller), anyOf(admin, managesParent)],
    }).mutation(({ ctx, input }) => {
      const { organization, parentId, ownerId = ctx.identity.id } = input;
      const { isAdmin } = actorOf(ctx);
      return organizations.create({ ...organization, parentId }, ownerId, ctx.identity.id, isAdmin, ctx.newId?.());
    }),

    list: listRoute(organization, 'GET /organizations', organizationList, {
      summary: 'List organizations',
      allow: [admin],
    }).query(({ ctx, input }) => organizations.list(askedBy(ctx, input))),

    get: getRoute(organization, 'GET /organizations/{organizationId}', { allow: [memberOf(...ORGANIZATION_ROLES)] }).query(
      ({ input }) => organizations.get(input.organizationId, input),
    ),

    patch: patchRoute(organization, 'PATCH /organizations/{organizationId}', organizationPatchInput, {
      summary: "Change an organization's branch, contact or description",
      allow: [notGuest, memberOf('owner'), requiresOfMembers],
    }).mutation(({ ctx, input: { organizationId, ...patch } }) => organizations.patch(organizationId, patch, actorOf(ctx))),

    patchAsAdmin: patchRoute(organization, 'PATCH /admin/organizations/{organizationId}', organizationAdminPatchInput, {
      summary: 'Change any field of an organization',
      errors: [errors.nameTaken, ...ATTACH_ERRORS],
      allow: [admin],
    }).mutation(({ ctx, input: { organizationId, ...patch } }) => organizations.patch(organizationId, patch, actorOf(ctx))),

    move: moveRoute(organization, 'PUT /organizations/{organizationId}/parent', 'update', moveOrganizationInput, {
      summary: 'Move an organization with its parts below another, or to the top',
      errors: [errors.cycle, errors.tooDeep],
      allow: [admin],
    }).mutation(({ input }) => organizations.move(input.organizationId, input.parentId)),

    listDescendants: listRoute(organization, 'GET /organizations/{organizationId}/descendants', descendantList, {
      summary: 'List the organizations below one, newest first',
      errors: [errors.notFound],
      allow: [memberOf(...MANAGING_ROLES)],
    }).query(({ ctx, input }) => organizations.descendantsOf(input.organizationId, input.depth, askedBy(ctx, input))),

    delete: deleteRoute(organization, 'DELETE /organizations/{organizationId}', {
      summary: 'Delete an organization with its products',
      allow: [notGuest, memberOf('owner')],
    }).mutation(({ input }) => organizations.delete(input.organizationId)),

    restore: restoreRoute(organization, 'POST /organizations/{organizationId}/restore', {
      summary: 'Restore a deleted organization and the products deleted with it',
      errors: [errors.nameTakenMeanwhile, errors.tooDeep],
    }).mutation(({ input }) => organizations.restore(input.organizationId)),

    listMembers: listRoute(member, 'GET /organizations/{organizationId}/members', memberList, {
      summary: 'List the members of an organization',
      errors: [errors.notFound],
      allow: [memberOf(...MANAGING_ROLES)],
    }).query(({ ctx, input }) => members.list(input.organizationId, askedBy(ctx, input))),

    upsertMembers: authenticatedRoute('PATCH /organizations/{organizationId}/members', {
      status: 204,
      summary: 'Add members or change their roles',
      failure: 'Failed to update organization members',
      bodyKey: 'members',
      errors: [
        errors.notFound,
        errors.invalidRoles,
        errors.noOwnerLeft,
        errors.nameTaken,
        errors.tooManyMembers,
        identityErrors.notFound,
      ],
      allow: [notGuest, memberOf(...MANAGING_ROLES)],
    })
      .input(upsertMembersInput)
      .mutation(({ ctx, input }) => members.upsert(input.organizationId, input.members, actorOf(ctx))),

    removeMember: removeRoute(member, 'DELETE /organizations/{organizationId}/members/{identityId}', {
      summary: 'Remove a member, or leave',
      errors: [errors.memberNotFound, errors.noOwnerLeft],
      allow: [anyOf(notGuest, self('identityId')), memberOf(...ORGANIZATION_ROLES)],
    }).mutation(({ ctx, input }) => members.remove(input.organizationId, input.identityId, actorOf(ctx))),

    memberRole: getRoute(role, 'GET /organizations/{organizationId}/members/{identityId}/role', {
      summary: "Show an identity's role in an organization, its own or inherited",
      mayBeUnchanged: false,
      errors: [errors.noRole],
      allow: [memberOf(...MANAGING_ROLES)],
    }).query(async ({ input }) => {
      const held = await organizations.heldRoleOf(input.organizationId, input.identityId);
      if (!held) throw errors.noRole();
      return held;
    }),

    isMember: authenticatedRoute('GET /organizations/{organizationId}/members/check-existence', {
      summary: 'Check whether an identity is a member',
      failure: 'Failed to find organization members',
      errors: [errors.notFound],
      allow: [memberOf(...MANAGING_ROLES)],
    })
      .input(memberInput)
      .output(IsMemberSchema)
      .query(async ({ input }) => ({
        isMemberOfOrganization: await members.isMember(input.organizationId, input.identityId),
      })),

    listOfIdentity: listRoute(organization, 'GET /organizations/members/{identityId}', membershipList, {
      summary: 'List the organizations of an identity, with its role in each',
      allow: [anyOf(admin, self('identityId'))],
    }).query(({ ctx, input }) =>
      organizations.ofIdentity(input.identityId, { ...input, roles: input.roles?.split(',') }, askedBy(ctx, input)),
    ),
  });
}
