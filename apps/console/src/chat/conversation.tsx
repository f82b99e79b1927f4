import type { ChannelSummary, LoadedMessages, MessageWindow } from '@tandem/client';
import { useMutation, useMutationState, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react';
import { Entry } from '../ui/boundary.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';
import { Failure, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { messagesKey, sendKey, useChat, windowKey, type Outgoing } from './chat.js';
import { Composer } from './composer.js';
import { Message, MessageOnItsWay } from './message.js';
import { useNames } from './names.js';
import { useInView, useVisible } from './visible.js';

/** Within this distance of the end, new messages scroll into view, in pixels. */
const NEAR = 80;

interface ConversationProps {
  channel: ChannelSummary;
  /** The number of the message to show, with those around it; the newest if absent. */
  at: number | undefined;
}

/** The messages of a channel, and the composer. */
export function Conversation({ channel, at }: ConversationProps) {
  const { typingIn } = useChat();
  const go = useNavigate();
  const typing = typingIn(channel.id);
  const personOf = useNames(typing, channel.ownerId);
  const goToNewest = () => void go({ to: `/chat/${channel.id}` });
  return (
    <section className="conversation" aria-label={channel.name}>
      <header>
        <Link to="/chat" activeOptions={{ exact: true }} className="back" aria-label="All channels">
          <Icon name="back" />
        </Link>
        <h1>{channel.name}</h1>
        {channel.open && <span className="tag tag-plain">open to all</span>}
      </header>
      <Messages key={at} channel={channel} at={at} goToNewest={goToNewest} />
      <p className="typing" aria-live="polite">
        {typing.length > 0 && `${typing.map((id) => personOf(id).name).join(', ')} ${typing.length === 1 ? 'is' : 'are'} typing…`}
      </p>
      <Composer channelId={channel.id} onSend={() => at !== undefined && goToNewest()} />
    </section>
  );
}

/** The messages to show, whether there are more before and after them, and what loads those. */
function useMessages(channelId: string, at: number | undefined) {
  const { load, loadEarlier, loadAround, extendAround } = useChat();
  const stored = useQuery<LoadedMessages | MessageWindow>(
    at === undefined
      ? { queryKey: messagesKey(channelId), queryFn: () => load(channelId), staleTime: 0 }
      : { queryKey: windowKey(channelId, at), queryFn: () => loadAround(channelId, at), staleTime: Infinity },
  );
  const more = useMutation({
    mutationFn: (end: 'earlier' | 'later') => (at === undefined ? loadEarlier(channelId) : extendAround(channelId, at, end)),
  });
  const { data } = stored;
  const ends = data && 'hasLater' in data ? data : { hasEarlier: data?.nextToken !== undefined, hasLater: false };
  return { stored, more, messages: data?.messages, hasEarlier: ends.hasEarlier, hasLater: ends.hasLater };
}

function Messages({ channel, at, goToNewest }: ConversationProps & { goToNewest(): void }) {
  const { markRead } = useChat();
  const { stored, more, messages, hasEarlier, hasLater } = useMessages(channel.id, at);
  const outgoing = useMutationState({
    filters: { mutationKey: sendKey(channel.id), status: 'pending' },
    select: ({ state }) => state.variables as Outgoing,
  });
  // one that is stored already is shown as that: the event may come before the acknowledgement
  const onTheirWay = outgoing.filter(({ clientId }) => !messages?.some((message) => message.clientId === clientId));

  const last = messages?.at(-1);
  const found = at === undefined ? undefined : messages?.find(({ seq }) => seq === at);
  const { readSeq = 0, unread = 0 } = channel;
  const isVisible = useVisible();
  const [end, isEndInView] = useInView();
  const isSeen = isVisible && isEndInView;
  const onSeen = useEffectEvent(markRead);
  useEffect(() => {
    if (last && isSeen && last.seq > readSeq) onSeen(last);
  }, [last, isSeen, readSeq]);

  const log = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(at === undefined);
  const sent = onTheirWay.at(-1);
  const newest = sent ?? last;
  useLayoutEffect(() => {
    // what one sends is seen, wherever one was reading
    if (newest && (sent || isAtEnd.current)) scrollToEnd(log.current);
  }, [newest, sent]);

  const personOf = useNames(messages?.map(({ senderId }) => senderId) ?? [], channel.ownerId);
  return (
    <>
      <div
        className="log"
        ref={log}
        role="log"
        aria-label={`Messages in ${channel.name}`}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- keyboard users must be able to scroll it
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = !hasLater && scrollHeight - scrollTop - clientHeight < NEAR;
        }}
      >
        {!messages && !stored.error && <Loading what="messages" />}
        {hasEarlier && (
          <Button className="log-earlier" isOff={more.isPending} onClick={() => more.mutate('earlier')}>
            Show earlier messages
          </Button>
        )}
        {messages?.length === 0 && onTheirWay.length === 0 && <p className="log-day">No messages yet. Write the first!</p>}
        <ol>
          {messages?.map((message, index) => (
            <Entry key={message.id} of={message}>
              <Message message={message} before={messages[index - 1]} personOf={personOf} isFound={message === found} />
            </Entry>
          ))}
          {onTheirWay.map(({ clientId, content }) => (
            <MessageOnItsWay key={clientId} content={content} />
          ))}
        </ol>
        {hasLater && (
          <Button className="log-later" isOff={more.isPending} onClick={() => more.mutate('later')}>
            Show later messages
          </Button>
        )}
        {messages && !hasLater && <div ref={end} className="log-end" />}
      </div>
      {hasLater && (
        <Button className="primary log-newer" onClick={goToNewest}>
          {unread === 0 ? 'Newest messages' : newText(unread)}
        </Button>
      )}
      {!hasLater && unread > 0 && last && !isEndInView && (
        <Button
          className="primary log-newer"
          onClick={() => {
            scrollToEnd(log.current);
            log.current?.focus();
          }}
        >
          {newText(unread)}
        </Button>
      )}
      <QueryFailure of={[stored]} />
      <Failure of={more.error} />
    </>
  );
}

function scrollToEnd(log: HTMLElement | null): void {
  if (log) log.scrollTop = log.scrollHeight;
}

const newText = (unread: number) => (unread === 1 ? '1 new message' : `${unread} new messages`);
