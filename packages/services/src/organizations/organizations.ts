import { mergeRouters } from '@tandem/core';
import { createOrganizationFollowersRouter } from '../profiles/follows.router.js';
import { organizationFollowerList } from '../profiles/follows.schemas.js';
import { follows } from '../profiles/profile-parts.js';
import { defineService } from '../shared/define-service.js';
import { createChangeRequestsRouter } from './change-requests.router.js';
import { changeRequestList } from './change-requests.schemas.js';
import { createOrganizationFilesRouter } from './organization-files.router.js';
import { serviceAccountList } from '../identities/service-accounts.schemas.js';
import { organizationErrors } from './organizations.errors.js';
import { createOrganizationsRouter } from './organizations.router.js';
import { descendantList, memberList, membershipList, organizationList } from './organizations.schemas.js';
import { createServiceAccountsRouter } from './service-accounts.router.js';

export const organizations = defineService({
  name: 'organizations',
  description: 'Organizations in trees, their members with roles, service accounts, and changes that an admin approves.',
  needs: [follows],
  router: (all) => {
    const { roleOf } = all.organizations;
    return mergeRouters(
      createOrganizationsRouter(all),
      createOrganizationFilesRouter(all),
      createServiceAccountsRouter({ serviceAccounts: all.serviceAccounts, roleOf }),
      createChangeRequestsRouter({ changeRequests: all.changeRequests, roleOf }),
      createOrganizationFollowersRouter({ follows: all.follows, roleOf }),
    );
  },
  lists: {
    list: organizationList,
    listChangeRequests: changeRequestList,
    listDescendants: descendantList,
    listFollowers: organizationFollowerList,
    listMembers: memberList,
    listOfIdentity: membershipList,
    listServiceAccounts: serviceAccountList,
  },
  tells: ['changeRequest', 'member', 'organization'],
  errors: { organizations: organizationErrors },
});
