import type { TandemClient } from '@tandem/client';

/** The second factors of an identity, as a query. */
export const factorsQuery = ({ api }: TandemClient, identityId: string) => ({
  queryKey: ['factors', identityId],
  queryFn: () => api.auth.factors.query({ identityId }),
});
