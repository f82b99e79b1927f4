import { freshProof } from '../authentication/proofs.js';
import { defineService } from '../shared/define-service.js';
import { identityErrors } from './identities.errors.js';
import { createIdentitiesRouter } from './identities.router.js';
import { identityList } from './identities.schemas.js';

export const identities = defineService({
  name: 'identities',
  description: 'Accounts: their email, type and state.',
  router: ({ identities: service, failedLogins, proofs }, { typeIds }) =>
    createIdentitiesRouter({
      identities: service,
      typeIds,
      freshProof: freshProof(proofs, 'email', 'typeId'),
      forgetFailedLogins: failedLogins.forget,
    }),
  lists: { list: identityList },
  tells: ['identity'],
  errors: { identities: identityErrors },
});
