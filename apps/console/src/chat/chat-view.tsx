import type { ChannelSummary } from '@tandem/client';
import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Badge } from '../ui/badge.js';
import { Entry } from '../ui/boundary.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { Field } from '../ui/field.js';
import { Live } from '../ui/live.js';
import { Empty, Failure, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { Time } from '../ui/time.js';
import { useTitle } from '../ui/title.js';
import { useChat } from './chat.js';
import { Conversation } from './conversation.js';
import { MessageSearch } from './message-search.js';

/** The channels and the messages of one of them; only one of both on a small screen. */
export function ChatView({ channelId }: { channelId?: string | undefined }) {
  const { channels, loading, unread, isLive } = useChat();
  const channel = channels?.find(({ id }) => id === channelId);
  const { at: number = '' } = useSearch({ strict: false }) as { at?: string };
  const at = /^[1-9]\d{0,14}$/.test(number) ? Number(number) : undefined;
  useTitle(channel?.name ?? 'Chat', unread);
  return (
    <div className={channelId === undefined ? 'chat' : 'chat chat-open'}>
      <section className="channels" aria-label="Channels">
        <header className="view-head">
          <h1>Chat</h1>
          <Live is={isLive} />
        </header>
        <NewChannel />
        <QueryFailure of={[loading]} />
        {!channels && !loading.error && <Loading what="channels" />}
        {channels?.length === 0 && <Empty title="No channels yet">Create one, or ask to be added to one.</Empty>}
        {channels && channels.length > 0 && (
          <MessageSearch>
            <ul>
              {channels.map((one) => (
                <Entry key={one.id} of={one}>
                  <ChannelLink channel={one} />
                </Entry>
              ))}
            </ul>
          </MessageSearch>
        )}
      </section>
      {channel && <Conversation key={channel.id} channel={channel} at={at} />}
      {!channel && channels && (channelId !== undefined || channels.length > 0) && (
        <div className="chat-none">
          {channelId === undefined ? (
            <Empty title="Choose a channel">Its messages appear here.</Empty>
          ) : (
            <Empty title="You are not in this channel">
              <Link to="/chat">All channels</Link>
            </Empty>
          )}
        </div>
      )}
    </div>
  );
}

function ChannelLink({ channel }: { channel: ChannelSummary }) {
  const { typingIn } = useChat();
  const { id, name, lastMessage, createdAt, unread = 0 } = channel;
  const isTyping = typingIn(id).length > 0;
  return (
    <li>
      <Link to={`/chat/${id}`} className="channel">
        <span className="channel-name">{name}</span>
        <Badge unread={unread} />
        <span className="channel-last">{isTyping ? 'typing…' : (lastMessage?.content ?? 'Nothing said yet')}</span>
        <Time at={lastMessage?.createdAt ?? createdAt} length="narrow" />
      </Link>
    </li>
  );
}

function NewChannel() {
  const { create } = useChat();
  const go = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const creating = useMutation({
    mutationFn: create,
    onSuccess(id) {
      setOpen(false);
      void go({ to: `/chat/${id}` });
    },
  });
  return (
    <>
      <Button onClick={() => setOpen(true)}>New channel</Button>
      {isOpen && (
        <Dialog title="New channel" onClose={() => setOpen(false)}>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              if (creating.isPending) return;
              creating.mutate((new FormData(event.currentTarget).get('name') as string).trim());
            }}
          >
            <Field label="Name of the channel" name="name" required maxLength={200} pattern=".*\S.*" autoComplete="off" />
            <Failure of={creating.error} />
            <div className="dialog-actions">
              <Button onClick={() => setOpen(false)}>Cancel</Button>
              <Button type="submit" className="primary" isOff={creating.isPending}>
                Create
              </Button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  );
}
