import type { ChannelSummary, ChatMessage, LoadedMessages } from '@tandem/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useIdentityId, useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';
import { useTitle } from '../ui/title.js';
import { ChannelPanel } from './channel-panel.js';
import { useChat } from './chat.js';
import { Composer } from './composer.js';
import { useRights } from './members.js';
import { messagesKey, pinsKey } from './message-cache.js';
import { MessageLog } from './message-log.js';
import { useChannelName, useNames } from './names.js';
import { PinsPanel } from './pins-panel.js';
import { useMessage } from './quote.js';
import { RoomContext, type Room } from './room.js';
import { ThreadPanel } from './thread-panel.js';
import { Undo } from './undo.js';
import { listText } from '../texts/formats.js';
import { t } from '../texts/texts.js';

interface ConversationProps {
  channel: ChannelSummary;
  /** The number of the message to show, with those around it; the newest if absent. */
  at: number | undefined;
  /** That message's id, where its number is not known. */
  messageId: string | undefined;
}

/** What is shown beside the messages. */
type Aside = 'pins' | 'channel' | { threadOf: string };

/** The messages of a channel, the composer, and a panel beside them. */
export function Conversation({ channel, at: seq, messageId }: ConversationProps) {
  const { typingIn, drafts, messages, unread } = useChat();
  const queries = useQueryClient();
  const self = useIdentityId();
  const go = useNavigate();
  const [aside, setAside] = useState<Aside>();
  const [editing, edit] = useState<string>();
  const [deleted, setDeleted] = useState<ChatMessage>();
  const name = useChannelName(channel);
  const { data: named } = useMessage(channel.id, messageId);
  const at = seq ?? named?.seq;
  const rights = useRights(channel);
  useTitle(name, unread);
  const typing = typingIn(channel.id);
  const personOf = useNames(typing, channel.ownerId);
  const loadingPins = useQuery({ queryKey: pinsKey(channel.id), queryFn: () => messages.loadPins(channel.id) });
  const { data: pins } = loadingPins;
  const goToNewest = () => void go({ to: `/chat/${channel.id}` });
  const close = () => setAside(undefined);
  const turn = (to: 'pins' | 'channel') => setAside(aside === to ? undefined : to);
  const room: Room = {
    channel,
    rights,
    pinned: new Set(pins?.map(({ id }) => id)),
    editing,
    edit,
    reply: ({ id }) => drafts.change(channel.id, { replyToId: id }),
    openThread: (threadOf) => setAside({ threadOf }),
    goTo,
    onDeleted: setDeleted,
  };
  /** Shows a message: where it is, if it is among those that are loaded. */
  function goTo(seq: number): void {
    const shown = document.querySelector('.conversation > .log');
    const row = shown?.querySelector<HTMLElement>(`[data-seq="${seq}"]`);
    // on a small screen the panel is in its place
    if (!shown?.checkVisibility()) close();
    if (!row?.checkVisibility()) return void go({ to: `/chat/${channel.id}`, search: { at: String(seq) } });
    row.scrollIntoView({ block: 'center' });
    row.focus({ preventScroll: true });
  }
  /** The last own message, as the arrow up in an empty composer. */
  function editLast(): void {
    const loaded = queries.getQueryData<LoadedMessages>(messagesKey(channel.id));
    edit(loaded?.messages.findLast(({ senderId }) => senderId === self)?.id);
  }
  return (
    <RoomContext value={room}>
      <section className="conversation" aria-label={name}>
        <header className="panel-head">
          <Link to="/chat" activeOptions={{ exact: true }} className="back" aria-label={t('chat.channels.all')}>
            <Icon name="back" />
          </Link>
          <h1>{name}</h1>
          {channel.open && <span className="tag tag-plain">{t('chat.conversation.open')}</span>}
          <div className="conversation-tools">
            <Button className="quiet" aria-expanded={aside === 'pins'} onClick={() => turn('pins')}>
              <Icon name="pin" />{' '}
              <span>
                {pins && pins.length > 0 ? t('chat.conversation.pins', { count: pins.length }) : t('chat.conversation.pinned')}
              </span>
            </Button>
            <Button className="quiet" aria-expanded={aside === 'channel'} onClick={() => turn('channel')}>
              <Icon name="people" /> <span>{t(channel.direct ? 'chat.members.about' : 'chat.members.title')}</span>
            </Button>
          </div>
        </header>
        <MessageLog key={at} channel={channel} name={name} at={at} goToNewest={goToNewest} />
        {deleted && rights.isAdmin && <Deleted message={deleted} onEnd={() => setDeleted(undefined)} />}
        <p className="typing" aria-live="polite">
          {typing.length > 0 &&
            t('chat.conversation.typing', { count: typing.length, names: listText(typing.map((id) => personOf(id).name)) })}
        </p>
        <Composer
          place={channel.id}
          label={t('chat.composer.message')}
          onSend={() => at !== undefined && goToNewest()}
          onEditLast={editLast}
        />
      </section>
      {aside === 'pins' && <PinsPanel pins={pins} loading={loadingPins} onClose={close} />}
      {aside === 'channel' && <ChannelPanel onClose={close} />}
      {typeof aside === 'object' && <ThreadPanel key={aside.threadOf} messageId={aside.threadOf} onClose={close} />}
    </RoomContext>
  );
}

/** Says that a message was deleted, and restores it: admins can. */
function Deleted({ message: { id: messageId, channelId }, onEnd }: { message: ChatMessage; onEnd(): void }) {
  const { client } = useSession();
  const { messages, refresh } = useChat();
  const restoring = useMutation({
    mutationFn: () => client.api.chat.restoreMessage.mutate({ messageId }),
    async onSuccess() {
      onEnd();
      messages.refresh(channelId);
      await refresh();
    },
  });
  return (
    <Undo isOff={restoring.isPending} error={restoring.error} onUndo={() => restoring.mutate()} onEnd={onEnd}>
      {t('chat.conversation.deleted')}
    </Undo>
  );
}
