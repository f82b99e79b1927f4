import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { Failure } from '../ui/notices.js';
import { AddMember } from './add-member.js';
import { Bans } from './bans.js';
import { ChannelForm } from './channel-form.js';
import { deletedKey } from './deleted-channel.js';
import { useChat } from './chat.js';
import { MemberList } from './member-list.js';
import { Panel } from '../ui/panel.js';
import { useRoom } from './room.js';
import { t } from '../texts/texts.js';

/** A channel's members, bans and settings. */
export function ChannelPanel({ onClose }: { onClose(): void }) {
  const { channel, rights } = useRoom();
  return (
    <Panel title={t(channel.direct ? 'chat.members.about' : 'chat.members.title')} onClose={onClose}>
      <div className="panel-body">
        {rights.manages && !channel.direct && <AddMember channelId={channel.id} />}
        <MemberList />
        {rights.moderates && <Bans />}
        {rights.manages && <ChannelForm />}
        <Leave />
      </div>
    </Panel>
  );
}

/** Leaves the channel, or deletes it. */
function Leave() {
  const { client } = useSession();
  const { chat } = client.api;
  const { refresh } = useChat();
  const { channel, rights } = useRoom();
  const go = useNavigate();
  const [asking, setAsking] = useState<'leave' | 'delete'>();
  async function onSuccess(): Promise<void> {
    void go({ to: '/chat' });
    await refresh();
  }
  const leaving = useMutation({
    mutationFn: (subscriptionId: string) => chat.deleteSubscription.mutate({ subscriptionId }),
    onSuccess,
  });
  const deleting = useMutation({
    mutationKey: deletedKey,
    mutationFn: (channelId: string) => chat.deleteChannel.mutate({ channelId }),
    onSuccess,
  });
  const { membership } = rights;
  return (
    <section className="panel-section">
      <p className="section-actions">
        {membership && <Button onClick={() => setAsking('leave')}>{t('chat.settings.leave')}</Button>}
        {rights.manages && (
          <Button className="bad" onClick={() => setAsking('delete')}>
            {t('chat.settings.delete')}
          </Button>
        )}
      </p>
      <Failure of={leaving.error ?? deleting.error} />
      {asking === 'leave' && membership && (
        <Confirm
          title={t('chat.settings.leaveSure')}
          action={t('chat.settings.leaveAction')}
          onConfirm={() => leaving.mutate(membership.id)}
          onClose={() => setAsking(undefined)}
        >
          <p>{t(channel.open ? 'chat.settings.canJoin' : 'chat.settings.mustBeAdded')}</p>
        </Confirm>
      )}
      {asking === 'delete' && (
        <Confirm
          title={t('chat.settings.deleteSure')}
          action={t('ui.delete')}
          onConfirm={() => deleting.mutate(channel.id)}
          onClose={() => setAsking(undefined)}
        >
          <p>{t('chat.settings.deleteWhat')}</p>
        </Confirm>
      )}
    </section>
  );
}
