import { isDuplicateKey, newId, present, type Storage } from '@tandem/storage';
import type { Attachments } from '../files/attachments.js';
import { identityErrors } from '../identities/identities.errors.js';
import { changeStages } from './organization-changes.js';
import { createOrganizationDeletion } from './organization-deletion.js';
import { withoutBulkFields, type ChildrenOfMany } from '../shared/bulk-writes.js';
import type { ListAnswer } from '../shared/list-declaration.js';
import type { ListQuery } from '../shared/list-query.js';
import { viewOf } from '../shared/list-view.js';
import type { Lists } from '../shared/lists.js';
import { HIDDEN, organizationModel, ownerNameOf, type MemberRecord, type OrganizationRecord } from './organization.model.js';
import { organizationErrors as errors } from './organizations.errors.js';
import {
  membershipList,
  organizationList,
  type NewOrganization,
  type Organization,
  type OrganizationPatch,
} from './organizations.schemas.js';
import { isOrganizationRole, type OrganizationRole } from './roles.js';

export type OrganizationsService = ReturnType<typeof createOrganizationsService>;

interface OrganizationsOptions {
  storage: Storage;
  lists: Lists;
  /** Which of these identities exist. */
  existingIdentities(identityIds: readonly string[]): Promise<Set<string>>;
  /** The logos of organizations: one each. */
  logos: Attachments;
  /** What goes and comes back with organizations. */
  children: readonly ChildrenOfMany[];
}

/** An organization in which an identity is a member, and as what. */
export interface Membership {
  member: { inheritedFrom: string | null; role: string };
  organization: Organization;
}

/** What a host may have left out of a record. */
const ABSENT: Partial<Organization> = {
  description: '',
  contact_email: '',
  contact_phone: null,
  branchName: null,
  typeId: null,
  address: null,
  auditStatus: null,
  certifiedQualifications: [],
};

/** An organization without its logo, which is no part of its record. */
type Bare = Omit<Organization, 'logo'>;

/** Members leave by the members' own service alone. */
function showOrganization(record: OrganizationRecord): Bare {
  const { members, ownerNames, ...organization } = present(withoutBulkFields(record));
  return { ...ABSENT, ...organization };
}

/** Organizations, without their members' changes. Ids are UUID strings; nothing here knows HTTP. */
export function createOrganizationsService({ storage, lists, existingIdentities, logos, children }: OrganizationsOptions) {
  const Organizations = storage.model(organizationModel);
  const deletion = createOrganizationDeletion(storage, children);

  const showWithoutLogo = (record: OrganizationRecord): Organization => ({ ...showOrganization(record), logo: null });

  /** Fills in the logos, by one query. */
  async function addLogos(organizations: readonly Organization[]): Promise<void> {
    const found = await logos.oneOf(organizations.map(({ id }) => id));
    for (const organization of organizations) organization.logo = found.get(organization.id) ?? null;
  }

  async function withLogo(bare: Bare): Promise<Organization> {
    const organization = { ...bare, logo: null };
    await addLogos([organization]);
    return organization;
  }

  return {
    /** Deletes softly, with its products. @throws errors.notFound */
    delete: deletion.delete,
    /** Of those that are deleted. */
    deletionsOf: deletion.deletionsOf,

    /**
     * Stores a new organization with its first owner.
     * @param createdBy who uploaded the logo
     * @throws errors.nameTaken when the owner has one of this name; identityErrors.notFound when there is no such owner; ATTACH_ERRORS
     */
    async create({ logo, ...given }: NewOrganization, ownerId: string, createdBy: string): Promise<Organization> {
      if (!(await existingIdentities([ownerId])).has(ownerId)) throw identityErrors.notFound();
      const joinedAt = storage.clock.now();
      try {
        const id = newId(storage.clock);
        const record = await logos.replace(id, logo, createdBy, () =>
          Organizations.create({
            _id: id,
            ...given,
            members: [{ identityId: ownerId, role: 'owner', joinedAt }],
            ownerNames: [ownerNameOf(ownerId, given.name)],
          }),
        );
        return await withLogo(showOrganization(record.toObject()));
      } catch (error) {
        throw isDuplicateKey(error) ? errors.nameTaken({ name: given.name }) : error;
      }
    },

    /** @throws errors.notFound */
    async get(organizationId: string): Promise<Organization> {
      const record = await Organizations.findById(organizationId, {
        members: 0,
        ownerNames: 0,
      }).lean<OrganizationRecord>();
      if (!record) throw errors.notFound();
      return withLogo(showOrganization(record));
    },

    list(query: ListQuery): Promise<ListAnswer<Organization>> {
      return lists.answer(organizationList, Organizations, { show: showWithoutLogo, complete: addLogos }, query);
    },

    /**
     * Changes what is given, in one write, the keys of its name too.
     * @param changedBy who uploaded the logo
     * @throws errors.nothingToUpdate for an empty change, notFound, nameTaken; ATTACH_ERRORS
     */
    async patch(organizationId: string, { logo, ...patch }: OrganizationPatch, changedBy: string): Promise<Organization> {
      const changes = changeStages(patch);
      if (changes.length === 0 && logo === undefined) throw errors.nothingToUpdate();
      try {
        const options = { returnDocument: 'after', updatePipeline: true } as const;
        const stages = [...changes, { $set: { updatedAt: storage.clock.now() } }];
        const record = await logos.replace(organizationId, logo, changedBy, async () => {
          const changed = await Organizations.findByIdAndUpdate(organizationId, stages, options).lean<OrganizationRecord>();
          if (!changed) throw errors.notFound();
          return changed;
        });
        return await withLogo(showOrganization(record));
      } catch (error) {
        throw isDuplicateKey(error) ? errors.nameTaken({ name: patch.name ?? '' }) : error;
      }
    },

    /** Brings it back, with what went with it. @throws errors.notFound when there is nothing to restore, nameTakenMeanwhile */
    async restore(organizationId: string): Promise<Organization> {
      await deletion.restore(organizationId);
      return this.get(organizationId);
    },

    /** Whether there is any, deleted ones too. */
    async hasAny(): Promise<boolean> {
      return (await Organizations.exists({}).setOptions({ deleted: 'include' })) !== null;
    },

    /** The name of a live organization; undefined when there is none. */
    async nameOf(organizationId: string): Promise<string | undefined> {
      const found = await Organizations.findById(organizationId, { name: 1 }).lean<OrganizationRecord>();
      return found?.name;
    },

    /**
     * The role of an identity in a live organization; undefined when it is no member. Serves core's rule in every service:
     * `organizationRole('organizationId', ['owner', 'admin'], organizations.roleOf)`.
     */
    async roleOf(organizationId: string, identityId: string): Promise<OrganizationRole | undefined> {
      const found = (await Organizations.collection.findOne({ _id: organizationId, deletedAt: null } as object, {
        projection: { members: { $elemMatch: { identityId } } },
      })) as Pick<OrganizationRecord, 'members'> | null;
      const role = found?.members?.[0]?.role;
      return role !== undefined && isOrganizationRole(role) ? role : undefined;
    },

    /** The organizations in which an identity is a member, newest first; with `roles` those where it holds one of these. */
    ofIdentity(identityId: string, roles: readonly string[] | undefined, query: ListQuery): Promise<ListAnswer<Membership>> {
      const isTheirs = { $eq: ['$$member.identityId', { $literal: identityId }] };
      const held = { $filter: { input: '$members', as: 'member', cond: isTheirs, limit: 1 } };
      const memberships = viewOf(Organizations, [
        { $match: { 'members.identityId': identityId, deletedAt: null } },
        { $set: { member: { $first: held } } },
        { $unset: [...HIDDEN] },
        ...(roles ? [{ $match: { 'member.role': { $in: roles } } }] : []),
      ]);
      const show = ({ member, ...record }: OrganizationRecord & { member: MemberRecord }) => ({
        member: { inheritedFrom: null, role: member.role },
        organization: showWithoutLogo(record),
      });
      const complete = (rows: Membership[]) => addLogos(rows.map(({ organization }) => organization));
      return lists.answer(membershipList, memberships, { cursorScope: { identityId, roles }, show, complete }, query);
    },
  };
}
