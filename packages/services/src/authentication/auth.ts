import { mergeRouters } from '@tandem/core';
import { createAuditRouter } from '../audit/audit.router.js';
import { eventList, identityEventList } from '../audit/audit.schemas.js';
import type { Foundation } from '../foundation.js';
import { apiKeyErrors } from '../keys/keys.errors.js';
import { createKeysRouter } from '../keys/keys.router.js';
import { apiKeyList } from '../keys/keys.schemas.js';
import { onetimeTokenErrors } from '../onetime-tokens/onetime-tokens.errors.js';
import { createOnetimeTokensRouter } from '../onetime-tokens/onetime-tokens.router.js';
import { providerErrors } from '../providers/providers.errors.js';
import { createProvidersRouter } from '../providers/providers.router.js';
import { createPersonalDataRouter } from '../personal-data/personal-data.router.js';
import { defineService, type RouterOptions } from '../shared/define-service.js';
import { createAccountsRouter } from './accounts.router.js';
import { authenticationServiceErrors } from './authentication.errors.js';
import { createAuthenticationRouter } from './authentication.router.js';
import { createEmailsRouter } from './emails/emails.router.js';
import { createFactorsRouter } from './factors/factors.router.js';
import { createMfaRouter } from './mfa/mfa.router.js';
import { freshProof } from './proofs.js';
import { createPasswordChangesRouter } from './passwords/password-changes.router.js';
import { sessionErrors } from './sessions/sessions.errors.js';
import { createSessionsRouter } from './sessions/sessions.router.js';
import { sessionList } from './sessions/sessions.schemas.js';
import { createSignInAnswers } from './sign-in-answers.js';

/** All routers below `/auth`, one for each topic. */
function createAuthRouter(services: Foundation, { cookies, browserCookies, redirectUrls, keyProcedures }: RouterOptions) {
  const { authentication, audit, sessions, identities, onetimeTokens, rateLimits } = services;
  const registerInvited = services.acceptance.register;
  const answers = createSignInAnswers(cookies);
  return mergeRouters(
    createAuthenticationRouter({
      authentication,
      sessions,
      identities,
      onetimeTokens,
      registerInvited,
      rateLimits,
      answers,
      cookies,
    }),
    createMfaRouter(services, answers),
    createFactorsRouter({ ...services, freshProof: freshProof(services.proofs), answers }),
    createOnetimeTokensRouter({ ...services, answers, browserCookies }),
    createEmailsRouter(services),
    createPasswordChangesRouter(services),
    createAccountsRouter(identities),
    createSessionsRouter(services.shownSessions),
    createKeysRouter({
      ...services,
      procedures: keyProcedures,
      organizationOf: identities.serviceAccountOf,
      roleOf: services.organizations.roleOf,
    }),
    createAuditRouter(audit),
    createPersonalDataRouter(services),
    createProvidersRouter({ providers: services.providers, identities, rateLimits, browserCookies, redirectUrls }),
  );
}

export const auth = defineService({
  name: 'auth',
  description: 'Registration, sign-in, sessions, API keys, passwords, one-time tokens, identity providers and the audit trail.',
  router: createAuthRouter,
  lists: { events: eventList, identityEvents: identityEventList, keys: apiKeyList, sessions: sessionList },
  errors: {
    auth: authenticationServiceErrors,
    'one-time tokens': onetimeTokenErrors,
    sessions: sessionErrors,
    'API keys': apiKeyErrors,
    'identity providers': providerErrors,
  },
});
