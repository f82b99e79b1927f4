import { defineErrors } from '@tandem/core';

/** Most keys of an identity (decisions E4). */
export const MAX_KEYS = 50;

/** The errors of the key routes. Core declares those of requests with a key. */
export const apiKeyErrors = defineErrors('apiKeys', {
  notFound: [404, 'API key not found'],
  tooMany: [409, `An identity must NOT have more than ${MAX_KEYS} API keys`],
});
