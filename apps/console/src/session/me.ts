import type { RouterOutputs } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { useIdentityId, useSession } from './session.js';

export type Me = RouterOutputs['identities']['get'] & { isAdmin: boolean };

/** The signed-in identity, as a query. */
export function useMe() {
  const { client, settings } = useSession();
  const identityId = useIdentityId();
  return useQuery({
    queryKey: ['me', identityId],
    queryFn: () => client.api.identities.get.query({ identityId }),
    select: (identity): Me => ({ ...identity, isAdmin: identity.typeId === settings.adminTypeId }),
  });
}
