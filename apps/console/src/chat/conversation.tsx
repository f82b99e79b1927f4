import type { ChannelSummary } from '@tandem/client';
import { useMutation, useMutationState, useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react';
import { Link } from 'wouter';
import { Entry } from '../ui/boundary.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';
import { Failure, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { messagesKey, sendKey, useChat, type Outgoing } from './chat.js';
import { Composer } from './composer.js';
import { Message, MessageOnItsWay } from './message.js';
import { useNames } from './names.js';
import { useInView, useVisible } from './visible.js';

/** Within this distance of the end, new messages scroll into view, in pixels. */
const NEAR = 80;

/** The messages of a channel, and the composer. */
export function Conversation({ channel }: { channel: ChannelSummary }) {
  const { load, loadEarlier, typingIn, markRead } = useChat();
  const stored = useQuery({ queryKey: messagesKey(channel.id), queryFn: () => load(channel.id), staleTime: 0 });
  const { data } = stored;
  const earlier = useMutation({ mutationFn: () => loadEarlier(channel.id) });
  const outgoing = useMutationState({
    filters: { mutationKey: sendKey(channel.id), status: 'pending' },
    select: ({ state }) => state.variables as Outgoing,
  });
  // one that is stored already is shown as that: the event may come before the acknowledgement
  const onTheirWay = outgoing.filter(({ clientId }) => !data?.messages.some((message) => message.clientId === clientId));

  const last = data?.messages.at(-1);
  const { readSeq = 0, unread = 0 } = channel;
  const isVisible = useVisible();
  const [end, isEndInView] = useInView<HTMLDivElement>();
  const isSeen = isVisible && isEndInView;
  const onSeen = useEffectEvent(markRead);
  useEffect(() => {
    if (last && isSeen && last.seq > readSeq) onSeen(last);
  }, [last, isSeen, readSeq]);

  const log = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  function scrollToEnd(): void {
    isAtEnd.current = true;
    if (log.current) log.current.scrollTop = log.current.scrollHeight;
  }
  const newest = onTheirWay.at(-1) ?? last;
  useLayoutEffect(() => {
    if (newest && isAtEnd.current && log.current) log.current.scrollTop = log.current.scrollHeight;
  }, [newest]);

  const typing = typingIn(channel.id);
  const personOf = useNames([...(data?.messages.map(({ senderId }) => senderId) ?? []), ...typing], channel.ownerId);
  return (
    <section className="conversation" aria-label={channel.name}>
      <header>
        <Link href="/chat" className="back" aria-label="All channels">
          <Icon name="back" />
        </Link>
        <h1>{channel.name}</h1>
        {channel.open && <span className="tag tag-plain">open to all</span>}
      </header>
      <div
        className="log"
        ref={log}
        role="log"
        aria-label={`Messages in ${channel.name}`}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- keyboard users must be able to scroll it
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR;
        }}
      >
        {!data && !stored.error && <Loading what="messages" />}
        {data?.nextToken !== undefined && (
          <Button className="log-earlier" isOff={earlier.isPending} onClick={() => earlier.mutate()}>
            Show earlier messages
          </Button>
        )}
        {data?.messages.length === 0 && onTheirWay.length === 0 && <p className="log-day">No messages yet. Write the first!</p>}
        <ol>
          {data?.messages.map((message, at) => (
            <Entry key={message.id} of={message}>
              <Message message={message} before={data.messages[at - 1]} personOf={personOf} />
            </Entry>
          ))}
          {onTheirWay.map(({ clientId, content }) => (
            <MessageOnItsWay key={clientId} content={content} />
          ))}
        </ol>
        <div ref={end} className="log-end" />
      </div>
      {unread > 0 && last && !isEndInView && (
        <Button
          className="primary log-newer"
          onClick={() => {
            scrollToEnd();
            log.current?.focus();
          }}
        >
          {unread === 1 ? '1 new message' : `${unread} new messages`}
        </Button>
      )}
      <QueryFailure of={[stored]} />
      <Failure of={earlier.error} />
      <p className="typing" aria-live="polite">
        {typing.length > 0 && `${typing.map((id) => personOf(id).name).join(', ')} ${typing.length === 1 ? 'is' : 'are'} typing…`}
      </p>
      <Composer channelId={channel.id} onSend={scrollToEnd} />
    </section>
  );
}
