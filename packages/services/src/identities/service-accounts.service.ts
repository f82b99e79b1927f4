import { madeIn } from '../shared/made-records.js';
import type { ListAnswer, ListQuery, Lists } from '@tandem/lists';
import { newId, present, type Storage } from '@tandem/storage';
import type { AuditService } from '../audit/audit.service.js';
import type { RequestFacts } from '../audit/request-facts.js';
import type { Joining, Joinings } from '../organizations/joinings.js';
import { organizationErrors as errors } from '../organizations/organizations.errors.js';
import type { OrganizationsService } from '../organizations/organizations.service.js';
import { identityErrors } from './identities.errors.js';
import type { IdentitiesService } from './identities.service.js';
import { identityModel, type IdentityRecord } from './identity.model.js';
import { serviceAccountList, type NewServiceAccount, type ServiceAccount } from './service-accounts.schemas.js';

export type ServiceAccountsService = ReturnType<typeof createServiceAccountsService>;

interface ServiceAccountsOptions {
  storage: Storage;
  lists: Lists;
  audit: AuditService;
  identities: Pick<IdentitiesService, 'delete' | 'serviceAccountOf' | 'wasCreated' | 'uncreate'>;
  organizations: Pick<OrganizationsService, 'nameOf'>;
  joinings: Joinings;
  /** The identity type of all service accounts. */
  typeId: string;
}

/** Everything that the creation of one writes. */
interface Creation extends Joining {
  name: string;
}

/** The service accounts of organizations: identities without email or password (decisions E4). */
export function createServiceAccountsService(options: ServiceAccountsOptions) {
  const { storage, lists, audit, identities, organizations, joinings, typeId } = options;
  const Identities = storage.model(identityModel);

  /** The identity comes last, so that one that exists has its role. */
  const creations = storage.defineUnit<Creation>({
    name: 'serviceAccounts.create',
    steps: [
      {
        name: 'join the organization',
        async run(creation, fence) {
          if (!(await joinings.join(creation, fence))) throw errors.notFound();
        },
        async undo(creation) {
          await joinings.takeBack(creation);
          await joinings.forget(creation);
        },
      },
      { name: 'forget the joining', run: joinings.forget, undo: () => Promise.resolve() },
      {
        name: 'create the identity',
        async run({ identityId: _id, organizationId: serviceAccountOf, name, joinedAt: createdAt }) {
          await Identities.create({ _id, serviceAccountOf, name, typeId, createdAt }).catch(async (error: unknown) => {
            if (!(await identities.wasCreated(_id))) throw error;
          });
          // a later deletion of the organization finds it
          if ((await organizations.nameOf(serviceAccountOf)) === undefined) throw errors.notFound();
        },
        // a later attempt with the same key may have made another one under the same id
        undo: ({ identityId, joinedAt }) => identities.uncreate(identityId, joinedAt),
      },
    ],
  });

  function show(record: IdentityRecord): ServiceAccount {
    const { id, name = '', createdAt, updatedAt } = present(record);
    return { id, name, role: null, createdAt, updatedAt };
  }

  async function addRoles(organizationId: string, accounts: readonly ServiceAccount[]): Promise<void> {
    const ids = accounts.map(({ id }) => id);
    const roles = await joinings.rolesAmong(organizationId, ids);
    for (const account of accounts) account.role = roles.get(account.id) ?? null;
  }

  return {
    /** @throws errors.notFound for the organization; tooManyMembers */
    async create(
      { organizationId, name, role }: NewServiceAccount,
      by: RequestFacts,
      identityId = newId(storage.clock),
    ): Promise<ServiceAccount> {
      const creation = { unitId: newId(storage.clock), identityId, organizationId, role, joinedAt: storage.clock.now(), name };
      await creations.run(creation, identityId);
      await audit.record('service-account.created', by, { identityId, details: { organizationId, role } });
      const created = await Identities.findById(identityId).lean<IdentityRecord>();
      if (!created) throw errors.notFound();
      return { ...show(created), role };
    },

    made: madeIn(Identities, async (record) => {
      const account = show(record);
      await addRoles(record.serviceAccountOf ?? '', [account]);
      return account;
    }),

    /** Those of an organization, newest first. @throws errors.notFound */
    async list(organizationId: string, query: ListQuery): Promise<ListAnswer<ServiceAccount>> {
      if ((await organizations.nameOf(organizationId)) === undefined) throw errors.notFound();
      const source = {
        scope: { serviceAccountOf: organizationId },
        show,
        complete: { role: (accounts: ServiceAccount[]) => addRoles(organizationId, accounts) },
      };
      return lists.answer(serviceAccountList, Identities, source, query);
    },

    /** Deletes one, which ends its keys. @throws identityErrors.notFound when the organization has no such account */
    async delete(organizationId: string, identityId: string, by: RequestFacts): Promise<void> {
      if ((await identities.serviceAccountOf(identityId)) !== organizationId) throw identityErrors.notFound();
      await identities.delete(identityId, by);
    },
  };
}
