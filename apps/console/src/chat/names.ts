import { field, queryOf, rowsOf } from '@tandem/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMe } from '../session/me.js';
import { useIdentityId, useSession } from '../session/session.js';

/** Characters shown of an id: its last ones, which are random. */
const SHOWN_OF_ID = 4;

/** How a person is shown. */
export interface Shown {
  name: string;
  avatarUrl: string | null;
}

/**
 * How people are shown: by their profiles; without one, admins see the email address, and others whether it is the
 * channel's owner or a member, distinguished by the id.
 */
export function useNames(identityIds: readonly string[], ownerId: string): (identityId: string) => Shown {
  const { client, people } = useSession();
  const self = useIdentityId();
  const { data: me } = useMe();
  const ids = [...new Set(identityIds)].filter((id) => id !== self).sort();
  const { data: cards } = useQuery({
    queryKey: ['people', ...ids],
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
    queryFn: async () => new Map(await Promise.all(ids.map(async (id) => [id, await people.get(id)] as const))),
  });
  const [first, ...others] = ids.filter((id) => cards && !cards.get(id)?.name);
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
    if (identityId === self) return { name: 'You', avatarUrl: null };
    const card = cards?.get(identityId);
    const unnamed = identityId === ownerId ? 'Owner' : `Member ${identityId.slice(-SHOWN_OF_ID)}`;
    return { name: card?.name ?? emails?.get(identityId) ?? unnamed, avatarUrl: card?.avatarUrl ?? null };
  };
}
