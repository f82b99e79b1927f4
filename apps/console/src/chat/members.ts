import { queryOf, rowsOf, type ChannelSummary, type ChatMessage, type RouterOutputs } from '@tandem/client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useMe } from '../session/me.js';
import { useIdentityId, useSession } from '../session/session.js';
import { membersKey } from './chat.js';

/** Members loaded at once: the most that a list gives. */
const MEMBERS = 100;
/** The longest time that browsers wait, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1;

export type Membership = RouterOutputs['chat']['listSubscriptions']['data'][number];

/** The members of a channel, first come first. */
export function useMembers(channelId: string, { isNeeded = true } = {}) {
  const { client } = useSession();
  return useInfiniteQuery({
    queryKey: [...membersKey(channelId), 'all'],
    enabled: isNeeded,
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam }) => {
      const query = queryOf('chat.listSubscriptions').orderBy('createdAt').top(MEMBERS);
      const { parameters } = pageParam === undefined ? query : query.after(pageParam);
      return rowsOf(await client.api.chat.listSubscriptions.query({ channelId, ...parameters }), parameters);
    },
    getNextPageParam: ({ nextToken }) => nextToken,
    select: ({ pages }) => pages.flatMap(({ value }) => value),
  });
}

/** What the signed-in person may do in a channel. */
export interface Rights {
  isAdmin: boolean;
  /** Owner, or an admin. */
  manages: boolean;
  /** The same, or a moderator. */
  moderates: boolean;
  /** Until when the person may write nothing; undefined if it may. */
  mutedUntil: string | undefined;
  /** The person's own membership. */
  membership: Membership | undefined;
  /** Whether the person may delete a message. */
  mayDelete(message: Pick<ChatMessage, 'senderId'>): boolean;
  /** Whether the person may mute or ban somebody. */
  mayModerate(identityId: string, role?: Membership['role']): boolean;
}

/** Rights in a channel; of a moderator over admins, only the server knows. */
export function useRights({ id: channelId, ownerId, direct }: ChannelSummary): Rights {
  const { client } = useSession();
  const self = useIdentityId();
  const { data: me } = useMe();
  const { data: membership } = useQuery({
    queryKey: [...membersKey(channelId), 'own'],
    queryFn: async () => {
      const { data } = await client.api.chat.listSubscriptions.query({ channelId, subscribedId: self });
      return data[0] ?? null;
    },
  });
  const isAdmin = me?.isAdmin === true;
  const manages = isAdmin || direct || ownerId === self;
  const isModerator = membership?.role === 'moderator';
  const mutedUntil = membership?.mutedUntil ?? undefined;
  const isMuted = useIsAhead(mutedUntil);
  const mayModerate = (identityId: string, role: Membership['role'] = 'member') =>
    identityId !== self && (manages || (isModerator && identityId !== ownerId && role !== 'moderator'));
  return {
    isAdmin,
    manages,
    moderates: manages || isModerator,
    mutedUntil: isMuted ? mutedUntil : undefined,
    membership: membership ?? undefined,
    mayDelete: ({ senderId }) => senderId === self || mayModerate(senderId),
    mayModerate,
  };
}

/** Whether a time is still to come. */
export function useIsAhead(time: string | null | undefined): boolean {
  const [now, setNow] = useState(Date.now);
  const end = time ? Date.parse(time) : 0;
  const isAhead = end > now;
  useEffect(() => {
    if (!isAhead) return undefined;
    let timer: ReturnType<typeof setTimeout>;
    const wait = () => {
      timer = setTimeout(() => (Date.now() < end ? wait() : setNow(Date.now())), Math.min(end - Date.now(), LONGEST_MS));
    };
    wait();
    return () => clearTimeout(timer);
  }, [end, isAhead]);
  return isAhead;
}
