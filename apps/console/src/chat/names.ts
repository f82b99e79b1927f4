import { field, queryOf, rowsOf } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { useMe } from '../session/me.js';
import { useIdentityId, useSession } from '../session/session.js';

/** Characters shown of an id: its last ones, which are random. */
const SHOWN_OF_ID = 4;

/**
 * Display names. Only admins may see email addresses; for others people are the channel's owner or members,
 * distinguished by their ids.
 */
export function useNames(identityIds: readonly string[], ownerId: string): (identityId: string) => string {
  const { client } = useSession();
  const self = useIdentityId();
  const { data: me } = useMe();
  const [first, ...others] = [...new Set(identityIds)].filter((id) => id !== self).sort();
  const { data: emails } = useQuery({
    queryKey: ['emails', first, ...others],
    enabled: me?.isAdmin === true && first !== undefined,
    staleTime: Infinity,
    queryFn: async () => {
      const { parameters } = queryOf('identities.list')
        .where(field('id').in(first as string, ...others))
        .top(100);
      const answer = rowsOf(await client.api.identities.list.query(parameters), parameters);
      return new Map(answer.value.map(({ id, email }) => [id, email]));
    },
  });
  return (identityId) => {
    if (identityId === self) return 'You';
    const unnamed = identityId === ownerId ? 'Owner' : `Member ${identityId.slice(-SHOWN_OF_ID)}`;
    return emails?.get(identityId) ?? unnamed;
  };
}
