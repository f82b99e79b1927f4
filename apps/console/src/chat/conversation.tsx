import type { ChatMessage } from '@tandem/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useId, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react';
import { Link } from 'wouter';
import { useIdentityId } from '../session/session.js';
import { Icon } from '../ui/icons.js';
import { Failure, Loading } from '../ui/notices.js';
import type { Channel, Messages } from './channel-state.js';
import { messagesKey, useChat } from './chat.js';
import { useNames } from './names.js';
import { useVisible } from './visible.js';

/** Messages of one person within this time are shown as a group, in milliseconds. */
const TOGETHER_MS = 5 * 60_000;
/** Within this distance of the end, new messages scroll into view, in pixels. */
const NEAR = 80;
/** Interval of typing reports, in milliseconds: the server forwards no more. */
const TYPING_EVERY_MS = 2000;

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });

/** The messages of a channel, and the composer. */
export function Conversation({ channel }: { channel: Channel }) {
  const { load, typingIn, markRead } = useChat();
  const queries = useQueryClient();
  const isVisible = useVisible();
  const key = messagesKey(channel.id);
  const { data, error, refetch } = useQuery({ queryKey: key, queryFn: () => load(channel.id), staleTime: 0 });
  const earlier = useMutation({
    mutationFn: () => load(channel.id, data?.nextToken),
    onSuccess: ({ messages, nextToken }) =>
      queries.setQueryData<Messages>(key, (shown) => shown && { messages: [...messages, ...shown.messages], nextToken }),
  });

  const last = data?.messages.at(-1);
  const { readSeq = 0 } = channel;
  const onSeen = useEffectEvent(markRead);
  useEffect(() => {
    if (last && isVisible && last.seq > readSeq) onSeen(last);
  }, [last, isVisible, readSeq]);

  const log = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (last && log.current && isAtEnd.current) log.current.scrollTop = log.current.scrollHeight;
  }, [last]);

  const typing = typingIn(channel.id);
  const nameOf = useNames([...(data?.messages.map(({ senderId }) => senderId) ?? []), ...typing], channel.ownerId);
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
        {!data && !error && <Loading what="messages" />}
        {data?.nextToken !== undefined && (
          <button type="button" className="log-earlier" disabled={earlier.isPending} onClick={() => earlier.mutate()}>
            Show earlier messages
          </button>
        )}
        {data?.messages.length === 0 && <p className="log-day">No messages yet. Write the first!</p>}
        <ol>
          {data?.messages.map((message, at) => (
            <Message key={message.id} message={message} before={data.messages[at - 1]} nameOf={nameOf} />
          ))}
        </ol>
      </div>
      <Failure of={error ?? earlier.error} retry={error ? () => void refetch() : undefined} />
      <p className="typing" aria-live="polite">
        {typing.length > 0 && `${typing.map(nameOf).join(', ')} ${typing.length === 1 ? 'is' : 'are'} typing…`}
      </p>
      <Composer channelId={channel.id} />
    </section>
  );
}

interface MessageProps {
  message: ChatMessage;
  before: ChatMessage | undefined;
  nameOf(identityId: string): string;
}

function Message({ message, before, nameOf }: MessageProps) {
  const self = useIdentityId();
  const at = new Date(message.createdAt);
  const isNewDay = before === undefined || day.format(new Date(before.createdAt)) !== day.format(at);
  const isTogether =
    !isNewDay && before.senderId === message.senderId && at.getTime() - Date.parse(before.createdAt) < TOGETHER_MS;
  const isOwn = message.senderId === self;
  return (
    <>
      {isNewDay && <li className="log-day">{day.format(at)}</li>}
      <li className={isOwn ? 'message message-own' : 'message'}>
        {!isTogether && (
          <p className="message-head">
            <span className="message-sender">{nameOf(message.senderId)}</span>{' '}
            <time dateTime={message.createdAt}>{clock.format(at)}</time>
          </p>
        )}
        <div className="bubble">
          {message.title !== null && <p className="message-title">{message.title}</p>}
          <p>{message.content}</p>
          {message.attachments.map(({ id, type, url }) => (
            <p key={id}>
              {type.startsWith('image/') ? (
                <img className="attachment" src={url} alt="Attached" loading="lazy" />
              ) : (
                <a href={url} target="_blank" rel="noreferrer">
                  Attachment ({type})
                </a>
              )}
            </p>
          ))}
        </div>
      </li>
    </>
  );
}

/** The text stays until it is stored, so it survives a refusal. */
function Composer({ channelId }: { channelId: string }) {
  const { send, sayTyping } = useChat();
  const id = useId();
  const [text, setText] = useState('');
  const saidAt = useRef(-Infinity);
  const sending = useMutation({ mutationFn: (content: string) => send(channelId, content), onSuccess: () => setText('') });

  function submit(): void {
    const content = text.trim();
    if (content !== '' && !sending.isPending) sending.mutate(content);
  }
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  }
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label htmlFor={id} className="unseen">
        Message
      </label>
      <textarea
        id={id}
        rows={1}
        value={text}
        maxLength={10_000}
        placeholder="Write a message"
        readOnly={sending.isPending}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setText(event.target.value);
          const now = performance.now();
          if (event.target.value === '' || now - saidAt.current < TYPING_EVERY_MS) return;
          saidAt.current = now;
          sayTyping(channelId);
        }}
      />
      <button type="submit" className="primary icon-button" disabled={sending.isPending} aria-label="Send">
        <Icon name="send" />
      </button>
      <Failure of={sending.error} />
    </form>
  );
}
