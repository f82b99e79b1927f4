import type { ChannelSummary, ChatMessage, LoadedMessages, MessageWindow } from '@tandem/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Fragment, useEffect, useEffectEvent, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react';
import { useIdentityId } from '../session/session.js';
import { Entry } from '../ui/boundary.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';
import { Failure, Loading } from '../ui/notices.js';
import { QueryFailure } from '../ui/query-failure.js';
import { useChat } from './chat.js';
import { messagesKey, windowKey } from './message-cache.js';
import { Message, newDayOf } from './message.js';
import { useNames } from './names.js';
import { MessageOnItsWay } from './outgoing-message.js';
import { useInView, useVisible } from './visible.js';
import { t } from '../texts/texts.js';

/** Addresses of files are loaded again after this time, before they end, in milliseconds. */
const FILES_MS = 9 * 60_000;

/** Within this distance of the end, new messages scroll into view, in pixels. */
const NEAR = 80;

interface MessageLogProps {
  channel: ChannelSummary;
  /** What the channel is called. */
  name: string;
  /** The number of the message to show, with those around it; the newest if absent. */
  at: number | undefined;
  goToNewest(): void;
}

/** The messages to show, whether there are more before and after them, and what loads those. */
function useMessages(channelId: string, at: number | undefined) {
  const { messages: cache } = useChat();
  const stored = useQuery<LoadedMessages | MessageWindow>(
    at === undefined
      ? {
          queryKey: messagesKey(channelId),
          queryFn: () => cache.load(channelId),
          staleTime: 0,
        }
      : { queryKey: windowKey(channelId, at), queryFn: () => cache.loadAround(channelId, at), staleTime: Infinity },
  );
  const more = useMutation({
    mutationFn: (end: 'earlier' | 'later') =>
      at === undefined ? cache.loadEarlier(channelId) : cache.extendAround(channelId, at, end),
  });
  const { data } = stored;
  const ends = data && 'hasLater' in data ? data : { hasEarlier: data?.nextToken !== undefined, hasLater: false };
  return { stored, more, messages: data?.messages, hasEarlier: ends.hasEarlier, hasLater: ends.hasLater };
}

/** Where what is new begins: after what was read when the conversation was opened, or last seen. */
function useNewAfter({ readSeq = 0, unread = 0 }: ChannelSummary, isSeen: boolean): number | undefined {
  const [newAfter, setNewAfter] = useState(unread > 0 ? readSeq : undefined);
  const [wasUnread, setWasUnread] = useState(unread > 0);
  // of messages that come while nobody looks
  if (unread > 0 !== wasUnread) {
    setWasUnread(unread > 0);
    if (unread > 0 && !isSeen) setNewAfter(readSeq);
  }
  return newAfter;
}

/** The messages of a channel. */
export function MessageLog({ channel, name, at, goToNewest }: MessageLogProps) {
  const { markRead, outgoing, messages: cache } = useChat();
  // also those of a thread beside it
  useQuery({
    queryKey: ['files', channel.id],
    queryFn: () => cache.renewFiles(channel.id),
    staleTime: FILES_MS,
    // the interval starts whenever the channel is shown
    refetchOnMount: 'always',
    refetchInterval: FILES_MS,
  });
  const self = useIdentityId();
  const { stored, more, messages, hasEarlier, hasLater } = useMessages(channel.id, at);
  // one that is stored already is shown as that: the event may come before the acknowledgement
  const onTheirWay = outgoing.filter(
    ({ channelId, clientId }) => channelId === channel.id && !messages?.some((message) => message.clientId === clientId),
  );

  const last = messages?.at(-1);
  const found = at === undefined ? undefined : messages?.find(({ seq }) => seq === at);
  const { readSeq = 0, unread = 0 } = channel;
  const isVisible = useVisible();
  const [end, isEndInView] = useInView();
  const isSeen = isVisible && isEndInView;
  const newAfter = useNewAfter(channel, isSeen);
  const firstNew =
    newAfter === undefined ? undefined : messages?.find(({ seq, senderId }) => seq > newAfter && senderId !== self);
  const onSeen = useEffectEvent(markRead);
  useEffect(() => {
    // deleted ones after it are unread too: marking it marks them
    if (last && isSeen && (last.seq > readSeq || unread > 0)) onSeen(last);
  }, [last, isSeen, readSeq, unread]);

  const log = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(at === undefined);
  const sent = onTheirWay.at(-1);
  const newest = sent ?? last;
  useLayoutEffect(() => {
    // what one sends is seen, wherever one was reading
    if (newest && (sent || isAtEnd.current)) scrollToEnd(log.current);
  }, [newest, sent]);

  const named = messages?.flatMap(({ senderId, mentions }) => [senderId, ...mentions]) ?? [];
  const personOf = useNames(named, channel.ownerId);
  const answeredBy = ({ replyToId }: ChatMessage) => ({ message: messages?.find(({ id }) => id === replyToId) });
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- keys go through what is in it */}
      <div
        className="log"
        ref={log}
        role="log"
        aria-label={t('chat.conversation.messagesIn', { name })}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- keyboard users must be able to scroll it
        tabIndex={0}
        onKeyDown={goThroughMessages}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = !hasLater && scrollHeight - scrollTop - clientHeight < NEAR;
        }}
        // a picture has its height once it is loaded
        onLoad={() => isAtEnd.current && scrollToEnd(log.current)}
      >
        {!messages && !stored.error && <Loading what={t('chat.loading.messages')} />}
        {hasEarlier && (
          <Button className="log-earlier" isOff={more.isPending} onClick={() => more.mutate('earlier')}>
            {t('chat.conversation.earlier')}
          </Button>
        )}
        {messages?.length === 0 && onTheirWay.length === 0 && <p className="log-day">{t('chat.conversation.none')}</p>}
        <ol>
          {messages?.map((message, index) => {
            const above = messages[index - 1];
            const day = newDayOf(message, above);
            const isNew = message === firstNew;
            return (
              <Fragment key={message.id}>
                {day !== undefined && <li className="log-day">{day}</li>}
                {isNew && <li className="log-new">{t('chat.conversation.new')}</li>}
                <Entry of={message}>
                  <Message
                    message={message}
                    before={day === undefined && !isNew ? above : undefined}
                    personOf={personOf}
                    answered={answeredBy(message)}
                    isFound={message === found}
                  />
                </Entry>
              </Fragment>
            );
          })}
          {onTheirWay.map((message) => (
            <MessageOnItsWay key={message.clientId} message={message} />
          ))}
        </ol>
        {hasLater && (
          <Button className="log-later" isOff={more.isPending} onClick={() => more.mutate('later')}>
            {t('chat.conversation.later')}
          </Button>
        )}
        {messages && !hasLater && <div ref={end} className="log-end" />}
      </div>
      {hasLater && (
        <Button className="primary log-newer" onClick={goToNewest}>
          {unread === 0 ? t('chat.conversation.newest') : newText(unread)}
        </Button>
      )}
      {!hasLater && last && !isEndInView && (
        <Button
          className={unread > 0 ? 'primary log-newer' : 'log-newer log-down icon-button'}
          aria-label={unread > 0 ? undefined : t('chat.conversation.newest')}
          onClick={() => {
            scrollToEnd(log.current);
            log.current?.focus();
          }}
        >
          <Icon name="down" /> {unread > 0 && newText(unread)}
        </Button>
      )}
      <QueryFailure of={[stored]} />
      <Failure of={more.error} />
    </>
  );
}

/** The arrow keys go from message to message, and Tab from there to what one may do with it. */
export function goThroughMessages(event: KeyboardEvent<HTMLElement>): void {
  const { key, target, currentTarget } = event;
  const isMessage = target instanceof HTMLElement && (target === currentTarget || target.matches('.message'));
  if (!isMessage || !['ArrowUp', 'ArrowDown'].includes(key) || event.altKey || event.ctrlKey || event.metaKey) return;
  const all = [...currentTarget.querySelectorAll<HTMLElement>('.message[tabindex]')];
  const from = all.indexOf(target);
  const to = key === 'ArrowUp' ? (from === -1 ? all.length : from) - 1 : from + 1;
  if (from === -1 && key === 'ArrowDown') return;
  event.preventDefault();
  all[to]?.focus();
}

export function scrollToEnd(log: HTMLElement | null): void {
  if (log) log.scrollTop = log.scrollHeight;
}

const newText = (unread: number) => t('chat.conversation.newMessages', { count: unread });
