import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useMe } from '../session/me.js';
import { useIdentityId, useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Live } from '../ui/live.js';
import { Empty, Failure, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { useTitle } from '../ui/title.js';
import { ChannelList } from './channel-list.js';
import { useChat } from './chat.js';
import { Conversation } from './conversation.js';
import { DeletedChannel } from './deleted-channel.js';
import { MessageSearch } from './message-search.js';
import { NewChannel, NewDirect } from './new-channel.js';
import { Reports } from './reports.js';
import { t } from '../texts/texts.js';
import '../ui/panel.css';
import './channels.css';
import './chat.css';
import './composer.css';
import './message.css';
import './panel.css';

/** The channels and the messages of one of them; only one of both on a small screen. */
export function ChatView({ channelId }: { channelId?: string | undefined }) {
  const { channels, loading, isLive } = useChat();
  const { data: me } = useMe();
  const channel = channels?.find(({ id }) => id === channelId);
  const { at: number = '', message } = useSearch({ strict: false }) as { at?: string; message?: string };
  const at = /^[1-9]\d{0,14}$/.test(number) ? Number(number) : undefined;
  return (
    <div className={channelId === undefined ? 'chat' : 'chat chat-open'}>
      <section className="channels" aria-label={t('chat.channels.label')}>
        <header className="view-head">
          <h1>{t('chat.title')}</h1>
          <Live is={isLive} />
        </header>
        <div className="channels-new">
          <NewChannel />
          <NewDirect />
          {me?.isAdmin && <Reports />}
        </div>
        {me?.isAdmin && <DeletedChannel />}
        <QueryFailure of={[loading]} />
        {!channels && !loading.error && <Loading what={t('chat.loading.channels')} />}
        {channels?.length === 0 && <Empty title={t('chat.channels.none')}>{t('chat.channels.noneWhy')}</Empty>}
        {channels && channels.length > 0 && (
          <MessageSearch>
            <ChannelList channels={channels} />
          </MessageSearch>
        )}
      </section>
      {channel && <Conversation key={channel.id} channel={channel} at={at} messageId={message} />}
      {!channel && channels && (channelId !== undefined || channels.length > 0) && (
        <div className="chat-none">
          {channelId === undefined ? (
            <Empty title={t('chat.channels.choose')}>{t('chat.channels.chooseWhy')}</Empty>
          ) : (
            <Elsewhere key={channelId} channelId={channelId} />
          )}
        </div>
      )}
      {!channel && <Title />}
    </div>
  );
}

/** Of the page, while no channel is open. */
function Title() {
  useTitle(t('chat.title'), useChat().unread);
  return null;
}

/** A channel that is not in the list: it is added, or, as one is not in it, may be joined. */
function Elsewhere({ channelId }: { channelId: string }) {
  const { client } = useSession();
  const self = useIdentityId();
  const { refresh, open } = useChat();
  const opening = useQuery({ queryKey: ['open-channel', channelId], queryFn: () => open(channelId), gcTime: 0 });
  const joining = useMutation({
    mutationFn: () => client.api.chat.createSubscription.mutate({ channelId, subscribedId: self }),
    onSuccess: refresh,
  });
  if (opening.error) return <QueryFailure of={[opening]} />;
  if (opening.isPending) return <Loading what={t('chat.loading.messages')} />;
  return (
    <Empty title={t('chat.channels.elsewhere')}>
      <p>{t('chat.channels.elsewhereWhy')}</p>
      <p>
        <Button className="primary" isOff={joining.isPending} onClick={() => joining.mutate()}>
          {t('chat.channels.join')}
        </Button>
      </p>
      <Failure of={joining.error} />
      <p>
        <Link to="/chat">{t('chat.channels.all')}</Link>
      </p>
    </Empty>
  );
}
