import { field, queryOf, rowsOf, type ChannelSummary } from '@tandem/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMe } from '../session/me.js';
import { useIdentityId, useSession } from '../session/session.js';
import { membersKey } from './chat.js';
import { t } from '../texts/texts.js';

/** Characters shown of an id: its last ones, which are random. */
const SHOWN_OF_ID = 4;
/** The server's name for channels of two. */
const DIRECT = 'Direct';

/** How a person is shown. */
export interface Shown {
  name: string;
  /** What messages call the person: the same for all readers, whatever their languages. */
  handle: string;
  avatarUrl: string | null;
  /** Whether it is the reader. */
  isSelf: boolean;
}

/** How somebody without a profile is shown: distinguished by the id. */
const unnamed = (identityId: string) => t('ui.people.memberOf', { number: identityId.slice(-SHOWN_OF_ID) });

/**
 * How people are shown: by their profiles; without one, admins see the email address, and others whether it is the
 * channel's owner or a member, distinguished by the id.
 */
export function useNames(identityIds: readonly string[], ownerId: string): (identityId: string) => Shown {
  const { client, people } = useSession();
  const self = useIdentityId();
  const { data: me } = useMe();
  const ids = [...new Set(identityIds)].sort();
  const { data: cards } = useQuery({
    queryKey: ['people', ...ids],
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
    queryFn: async () => new Map(await Promise.all(ids.map(async (id) => [id, await people.get(id)] as const))),
  });
  const [first, ...others] = ids.filter((id) => id !== self && cards && !cards.get(id)?.name);
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
    const card = cards?.get(identityId);
    const handle = card?.name ?? `Member ${identityId.slice(-SHOWN_OF_ID)}`;
    const name =
      identityId === self
        ? t('ui.people.you')
        : (card?.name ?? emails?.get(identityId) ?? (identityId === ownerId ? t('ui.people.owner') : unnamed(identityId)));
    return { name, handle, avatarUrl: card?.avatarUrl ?? null, isSelf: identityId === self };
  };
}

/** The other person of a channel of two; undefined of others, and where that one has left. */
export function useOther({ id: channelId, direct, ownerId }: ChannelSummary): string | undefined {
  const { client } = useSession();
  const self = useIdentityId();
  const { data: members } = useQuery({
    queryKey: [...membersKey(channelId), 'two'],
    enabled: direct,
    staleTime: Infinity,
    queryFn: async () => {
      const { parameters } = queryOf('chat.listSubscriptions').top(2);
      const { value } = rowsOf(await client.api.chat.listSubscriptions.query({ channelId, ...parameters }), parameters);
      return value.map(({ subscribedId }) => subscribedId);
    },
  });
  if (!direct) return undefined;
  return members?.find((id) => id !== self) ?? (ownerId === self ? undefined : ownerId);
}

/** What a channel is called: one of two by the other person, unless it was given another name. */
export function useChannelName(channel: ChannelSummary): string {
  const other = useOther(channel);
  const personOf = useNames(other === undefined ? [] : [other], '');
  return other === undefined || channel.name !== DIRECT ? channel.name : personOf(other).name;
}
