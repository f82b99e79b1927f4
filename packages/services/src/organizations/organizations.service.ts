import { validationError } from '@tandem/core';
import type { ListAnswer, ListQuery, Lists, ReadQuery } from '@tandem/lists';
import { defineDeletion, newId, present, type Storage } from '@tandem/storage';
import type { Attachments } from '../files/attachments.js';
import type { GivenFile } from '../files/files.schemas.js';
import { identityErrors } from '../identities/identities.errors.js';
import { membershipsOf } from './memberships.js';
import { createOrganizationRoles } from './organization-roles.js';
import { createOrganizationTree, type TreeReads } from './organization-tree.js';
import { viewerOf, type Actor } from '../shared/actor.js';
import { changeRecord, refusePrivate, withoutPrivate } from '../shared/changes.js';
import { madeIn } from '../shared/made-records.js';
import { givenOf } from '../shared/patching.js';
import { noting } from '../shared/unit-notes.js';
import {
  afterChange,
  organizationModel,
  ownerNameOf,
  refusesName,
  type MemberRecord,
  type OrganizationRecord,
} from './organization.model.js';
import { organizationErrors as errors } from './organizations.errors.js';
import {
  descendantList,
  membershipList,
  organizationKind,
  organizationList,
  type HeldRole,
  type NewOrganization,
  type Organization,
  type OrganizationPatch,
} from './organizations.schemas.js';
import { ORGANIZATION_ROLES } from './roles.js';

export type OrganizationsService = ReturnType<typeof createOrganizationsService>;

interface OrganizationsOptions {
  storage: Storage;
  lists: Lists;
  /** Those of the given identities that exist and are no service accounts: only people own organizations. */
  people(identityIds: readonly string[]): Promise<Set<string>>;
  /** Whether an identity has a second factor, or never signs in. */
  hasFactor(identityId: string): Promise<boolean>;
  /** An organization has one logo at most. */
  logos: Attachments;
}

/** The organization to store, and its logo. */
interface Creation {
  organization: OrganizationRecord;
  logo: GivenFile | null | undefined;
  /** The identity that uploaded the logo. */
  createdBy: string;
}

/** An identity's role in an organization. */
export interface Membership {
  member: HeldRole;
  organization: Organization;
}

/** Defaults of fields that a host may have left out. */
const ABSENT = {
  description: '',
  contact_email: '',
  contact_phone: null,
  branchName: null,
  typeId: null,
  parentId: null,
  address: null,
  auditStatus: null,
  mfaRequired: false,
  metadata: {},
  certifiedQualifications: [],
};

/** An organization without logo and ancestors, as it was read. Only the members service shows members. */
function showRead(record: OrganizationRecord): Organization {
  const { members, ownerNames, treeVersion, ...organization } = present(record);
  return { ...ABSENT, ...organization, logo: null, ancestors: [] };
}

/** The same, as everybody may see it who sees it. */
const showBare = (record: OrganizationRecord): Organization => showRead(withoutPrivate(record));

/** Organizations, except changes of their members. Ids are UUID strings; nothing here depends on HTTP. */
export function createOrganizationsService({ storage, lists, people, hasFactor, logos }: OrganizationsOptions) {
  const Organizations = storage.model(organizationModel);
  const deletion = defineDeletion(storage, organizationModel, { notFound: errors.notFound });

  const tree = createOrganizationTree(storage);

  async function addLogos(organizations: readonly Organization[]): Promise<void> {
    const found = await logos.oneOf(organizations.map(({ id }) => id));
    for (const organization of organizations) organization.logo = found.get(organization.id) ?? null;
  }

  async function addAncestors(organizations: readonly Organization[]): Promise<void> {
    const ancestors = await tree.ancestorsOf(organizations);
    for (const organization of organizations) organization.ancestors = ancestors.get(organization.id) ?? [];
  }

  const shown = { show: showRead, complete: { logo: addLogos, ancestors: addAncestors } };
  const completeAll = (organizations: readonly Organization[]) =>
    Promise.all([addLogos(organizations), addAncestors(organizations)]);

  const replaceLogo = logos.replacing(Organizations);
  const creations = storage.defineUnit<Creation>({
    name: 'organizations.create',
    steps: [
      {
        name: 'organization',
        async run({ organization, logo, createdBy }, fence) {
          await logos.hold(organization._id, logo, createdBy, fence);
          await fence.insert(Organizations.collection.collectionName, 'organization');
        },
        isDone: async ({ organization: { _id } }) =>
          (await Organizations.exists({ _id }).setOptions({ deleted: 'include' })) !== null,
        async undo({ organization: { _id } }) {
          // a later attempt with the same key may have made it, under the same id, and holds the logo then
          if (!(await Organizations.exists({ _id }).setOptions({ deleted: 'include' }))) await logos.release(_id);
        },
      },
    ],
  });

  /** The organizations that the caller of a query may read, by id: its own, or all for an admin. */
  async function readable(ids: readonly string[], query: object): Promise<Map<string, Organization>> {
    const viewer = viewerOf(query);
    if (!viewer) return new Map();
    const asMember = { members: { $elemMatch: { identityId: viewer.identityId, role: { $in: ORGANIZATION_ROLES } } } };
    const filter = { _id: { $in: ids }, ...(!viewer.isAdmin && asMember) };
    const all = await Organizations.find(filter, { members: 0 }).lean<OrganizationRecord[]>();
    const lacksFactor = !viewer.isAdmin && all.some(({ mfaRequired }) => mfaRequired) && !(await hasFactor(viewer.identityId));
    const records = lacksFactor ? all.filter(({ mfaRequired }) => !mfaRequired) : all;
    const found = records.flatMap((record) => lists.fit(organizationList, record, viewer.isAdmin ? showRead : showBare) ?? []);
    await completeAll(found);
    return new Map(found.map((organization) => [organization.id, organization]));
  }
  lists.relate(organizationKind, { find: readable });
  lists.tell('organization', organizationList, shown);

  /** @throws errors.notFound */
  async function show(record: OrganizationRecord | null, isAdmin = false): Promise<Organization> {
    const organization = lists.one(organizationList, isAdmin ? showRead : showBare)(record, errors.notFound);
    await completeAll([organization]);
    return organization;
  }

  /** Reads the tree for a list. @throws 400 naming the parameter that asks for too much */
  const readsOf = (parameter: string, query: ListQuery): TreeReads => ({
    read: (stages) => lists.read(Organizations, stages, parameter, query),
    tooMany: () => validationError([`query parameter '${parameter}' gives too much`]),
  });

  return {
    /** Soft-deletes an organization with its products. @throws errors.notFound */
    delete: (organizationId: string): Promise<void> => deletion.delete([organizationId]),
    /** The identity's own or inherited role, for display; access rules use `roleOf`. @throws errors.notFound */
    heldRoleOf: tree.roleOf,

    /**
     * Stores a new organization with its first owner.
     * @param createdBy the identity that uploaded the logo
     * @param isAdmin whether this is an admin, who may give `privateMetadata` and is shown it
     * @throws validationError for it otherwise; errors.nameTaken when the owner has one of this name, notFound (for the parent), tooDeep; identityErrors.notFound
     * when the owner does not exist; ATTACH_ERRORS
     */
    async create(
      { logo, ...given }: NewOrganization & { parentId?: string | null | undefined },
      ownerId: string,
      createdBy: string,
      isAdmin = false,
      _id = newId(storage.clock),
    ): Promise<Organization> {
      refusePrivate(given, isAdmin, '/organization');
      if (typeof given.parentId === 'string') await tree.mayBeginBelow(given.parentId);
      if (!(await people([ownerId])).has(ownerId)) throw identityErrors.notFound();
      const joinedAt = storage.clock.now();
      try {
        const members = [{ identityId: ownerId, role: 'owner', joinedAt }];
        const ownerNames = [ownerNameOf(ownerId, given.name)];
        const record = new Organizations({ _id, ...given, members, ownerNames }).toObject();
        const organization = { ...record, createdAt: joinedAt, updatedAt: joinedAt };
        await creations.run({ organization, logo, createdBy }, _id);
        if (logo) await logos.settleHeld(_id);
        return await show(organization, isAdmin);
      } catch (error) {
        throw refusesName(error) ? errors.nameTaken({ name: given.name }) : error;
      }
    },

    made: (anId: () => string, isAdmin: boolean): Promise<Organization | undefined> =>
      madeIn(Organizations, (record) => show(record, isAdmin))(anId),

    /** @throws errors.notFound */
    async get(organizationId: string, query?: ReadQuery): Promise<Organization> {
      return lists.find(organizationList, Organizations, { _id: organizationId }, shown, errors.notFound, query);
    },

    list(query: ListQuery): Promise<ListAnswer<Organization>> {
      return lists.answer(organizationList, Organizations, shown, query);
    },

    /** The organizations below one, down to `depth` levels. @throws errors.notFound */
    async descendantsOf(organizationId: string, depth: number | undefined, query: ListQuery): Promise<ListAnswer<Organization>> {
      if ((await this.nameOf(organizationId)) === undefined) throw errors.notFound();
      const scope = { parentId: { $in: await tree.parentsBelow(organizationId, depth, readsOf('depth', query)) } };
      const cursorScope = { descendantsOf: organizationId, depth };
      return lists.answer(descendantList, Organizations, { scope, cursorScope, ...shown }, query);
    },

    /** Moves an organization below another, or to the top. @throws errors.notFound (for either), cycle, tooDeep */
    async move(organizationId: string, parentId: string | null): Promise<Organization> {
      await tree.move(organizationId, parentId);
      return this.get(organizationId);
    },

    /**
     * Changes the given fields, and `ownerNames` if the name changes, in one write.
     * @param by the identity that uploaded the logo
     * @throws errors.nothingToUpdate for an empty change, notFound, nameTaken; ATTACH_ERRORS
     */
    async patch(organizationId: string, { logo, ...patch }: OrganizationPatch, by: Actor): Promise<Organization> {
      const set = givenOf(patch);
      if (Object.keys(set).length === 0 && logo === undefined) throw errors.nothingToUpdate();
      try {
        const record = await replaceLogo(organizationId, logo, by.identityId, async (unit) => {
          const stages = [...afterChange(set), ...(unit ? [noting(unit.note)] : [])];
          const changed = await changeRecord(
            Organizations,
            { _id: organizationId, ...unit?.open },
            { ...set, updatedAt: storage.clock.now() },
            stages,
          );
          if (!changed) throw errors.notFound();
          return changed;
        });
        return await show(record, by.isAdmin);
      } catch (error) {
        throw refusesName(error) ? errors.nameTaken({ name: patch.name ?? '' }) : error;
      }
    },

    /**
     * Restores an organization and everything deleted with it. @throws errors.notFound when there is nothing to restore,
     * nameTakenMeanwhile, tooDeep
     */
    async restore(organizationId: string): Promise<Organization> {
      await tree.mayReturn(organizationId);
      await deletion.restore(organizationId).catch(async (error: unknown) => {
        if (!refusesName(error)) throw error;
        const deleted = Organizations.findById(organizationId, { name: 1 }).setOptions({ deleted: 'include' });
        throw errors.nameTakenMeanwhile({ name: (await deleted.lean<OrganizationRecord>())?.name ?? '' });
      });
      return this.get(organizationId);
    },

    /** Whether any organization exists, deleted ones included. */
    async hasAny(): Promise<boolean> {
      return (await Organizations.exists({}).setOptions({ deleted: 'include' })) !== null;
    },

    /** The name of a live organization; undefined when there is none. */
    async nameOf(organizationId: string): Promise<string | undefined> {
      const found = await Organizations.findById(organizationId, { name: 1 }).lean<OrganizationRecord>();
      return found?.name;
    },

    /** Its last deletion, also while it is deleted: whatever comes back with it carries the same. */
    deletionOf: async (_id: string) =>
      (await Organizations.findById(_id, 'deletionId', { deleted: 'include' }).lean<OrganizationRecord>())?.deletionId,

    ...createOrganizationRoles(storage, hasFactor),

    /**
     * The organizations of an identity, newest first; `includeInherited` adds those below them, `roles` keeps only those where it
     * has one of these roles.
     */
    async ofIdentity(
      identityId: string,
      { roles, includeInherited = false }: { roles?: readonly string[] | undefined; includeInherited?: boolean | undefined },
      query: ListQuery,
    ): Promise<ListAnswer<Membership>> {
      const held = includeInherited
        ? await tree.inheritedBelow(identityId, readsOf('includeInherited', query))
        : new Map<string, HeldRole>();
      const source = {
        cursorScope: { identityId, roles, includeInherited },
        show: ({ member, ...record }: OrganizationRecord & { member?: MemberRecord | { role: string } | null }) =>
          ({
            member:
              member && 'identityId' in member ? { inheritedFrom: null, role: member.role } : held.get(record.parentId ?? ''),
            organization: showBare(record),
          }) as Membership,
        complete: {
          async organization(rows: Membership[]) {
            await completeAll(rows.map(({ organization }) => organization));
          },
        },
      };
      return lists.answer(membershipList, membershipsOf(Organizations, identityId, held, roles), source, query);
    },
  };
}
