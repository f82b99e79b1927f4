import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useIdentityId, useSession } from '../session/session.js';
import { Avatar } from '../ui/avatar.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { Menu } from '../ui/menu.js';
import { Failure, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { bansKey } from './bans.js';
import { membersKey, useChat } from './chat.js';
import { useIsAhead, useMembers, type Membership } from './members.js';
import { useNames, type Shown } from './names.js';
import { useRoom } from './room.js';
import { UntilDialog } from './until-dialog.js';
import { t } from '../texts/texts.js';

/** Who is in a channel. */
export function MemberList() {
  const { channel } = useRoom();
  const loading = useMembers(channel.id);
  const { data: members, hasNextPage, isFetchingNextPage, fetchNextPage } = loading;
  const personOf = useNames(members?.map(({ subscribedId }) => subscribedId) ?? [], channel.ownerId);
  return (
    <section className="panel-section" aria-label={t('chat.members.title')}>
      <QueryFailure of={[loading]} />
      {!members && !loading.error && <Loading what={t('chat.loading.members')} />}
      <ul className="people">
        {members?.map((member) => (
          <Member key={member.id} member={member} person={personOf(member.subscribedId)} />
        ))}
      </ul>
      {hasNextPage && (
        <Button isOff={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t('ui.showMore')}
        </Button>
      )}
    </section>
  );
}

function Member({ member, person }: { member: Membership; person: Shown }) {
  const { subscribedId, mutedUntil, role } = member;
  const { isOnline } = useChat();
  const { channel } = useRoom();
  const isOwner = subscribedId === channel.ownerId && !channel.direct;
  const isMuted = useIsAhead(mutedUntil);
  return (
    <li className="person">
      <Avatar of={subscribedId} name={person.isSelf ? person.handle : person.name} url={person.avatarUrl} />
      <span className="person-name">{person.name}</span>
      {isOnline(subscribedId) && (
        <span className="online">
          <span className="unseen">{t('chat.members.online')}</span>
        </span>
      )}
      {isOwner && <span className="tag tag-plain">{t('chat.members.owner')}</span>}
      {role === 'moderator' && <span className="tag">{t('chat.members.moderator')}</span>}
      {isMuted && <span className="tag tag-bad">{t('chat.members.muted')}</span>}
      <MemberActions member={member} isMuted={isMuted} name={person.name} />
    </li>
  );
}

interface MemberActionsProps {
  member: Membership;
  isMuted: boolean;
  name: string;
}

/** What one may do with a member. */
function MemberActions({ member, isMuted, name }: MemberActionsProps) {
  const { id: subscriptionId, channelId, subscribedId: identityId, role } = member;
  const { client } = useSession();
  const { chat } = client.api;
  const self = useIdentityId();
  const queries = useQueryClient();
  const { refresh } = useChat();
  const go = useNavigate();
  const { rights, channel } = useRoom();
  const [asking, setAsking] = useState<'mute' | 'ban' | 'remove'>();
  const acting = useMutation({
    mutationFn: (act: () => Promise<unknown>) => act(),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: membersKey(channelId) });
      await queries.invalidateQueries({ queryKey: bansKey(channelId) });
    },
  });
  if (identityId === self) return null;
  const change = (given: { role?: Membership['role']; mutedUntil?: string | null }) =>
    acting.mutate(() => chat.patchSubscription.mutate({ subscriptionId, ...given }));
  const openDirect = () =>
    acting.mutate(async () => {
      const { id } = await chat.openDirectChannel.mutate({ identityId });
      await refresh();
      void go({ to: `/chat/${id}` });
    });
  const moderates = rights.mayModerate(identityId, role);
  return (
    <>
      <Menu
        label={t('chat.members.actions', { name })}
        entries={() => [
          !channel.direct && { text: t('chat.members.message'), run: openDirect },
          rights.manages &&
            !channel.direct &&
            role === 'member' && { text: t('chat.members.makeModerator'), run: () => change({ role: 'moderator' }) },
          rights.manages && role === 'moderator' && { text: t('chat.members.makeMember'), run: () => change({ role: 'member' }) },
          moderates && isMuted && { text: t('chat.members.unmute'), run: () => change({ mutedUntil: null }) },
          moderates && !isMuted && { text: t('chat.members.mute'), run: () => setAsking('mute') },
          rights.manages && { text: t('chat.members.remove'), isDangerous: true, run: () => setAsking('remove') },
          moderates && { text: t('chat.members.ban'), isDangerous: true, run: () => setAsking('ban') },
        ]}
      />
      <Failure of={acting.error} />
      {asking === 'mute' && (
        <UntilDialog
          title={t('chat.members.muteOne', { name })}
          action={t('chat.members.muteAction')}
          onChoose={(mutedUntil) => change({ mutedUntil })}
          onClose={() => setAsking(undefined)}
        >
          {t('chat.members.muteWhat')}
        </UntilDialog>
      )}
      {asking === 'ban' && (
        <UntilDialog
          title={t('chat.members.banOne', { name })}
          action={t('chat.members.banAction')}
          mayBeForever
          onChoose={(until) => acting.mutate(() => chat.createBan.mutate({ channelId, identityId, until }))}
          onClose={() => setAsking(undefined)}
        >
          {t('chat.members.banWhat')}
        </UntilDialog>
      )}
      {asking === 'remove' && (
        <Confirm
          title={t('chat.members.removeSure', { name })}
          action={t('ui.remove')}
          onConfirm={() => acting.mutate(() => chat.deleteSubscription.mutate({ subscriptionId }))}
          onClose={() => setAsking(undefined)}
        >
          <p>{t(channel.open ? 'chat.members.removedFromOpen' : 'chat.members.removed')}</p>
        </Confirm>
      )}
    </>
  );
}
