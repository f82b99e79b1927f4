import type { ChatMessage } from '@tandem/client';
import { useEffect, useRef } from 'react';
import { useIdentityId } from '../session/session.js';
import type { Shown } from './names.js';

/** Messages of one person within this time are shown as a group, in milliseconds. */
const TOGETHER_MS = 5 * 60_000;

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });

interface MessageProps {
  message: ChatMessage;
  before: ChatMessage | undefined;
  personOf(identityId: string): Shown;
  /** Whether it is the one that was looked for: shown first, and marked. */
  isFound?: boolean;
}

export function Message({ message, before, personOf, isFound = false }: MessageProps) {
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (!isFound) return;
    row.current?.scrollIntoView({ block: 'center' });
    // keyboards and screen readers go on from here
    row.current?.focus({ preventScroll: true });
  }, [isFound]);
  const self = useIdentityId();
  const at = new Date(message.createdAt);
  const isNewDay = before === undefined || day.format(new Date(before.createdAt)) !== day.format(at);
  const isTogether =
    !isNewDay && before.senderId === message.senderId && at.getTime() - Date.parse(before.createdAt) < TOGETHER_MS;
  const isOwn = message.senderId === self;
  const { name, avatarUrl } = personOf(message.senderId);
  return (
    <>
      {isNewDay && <li className="log-day">{day.format(at)}</li>}
      <li
        ref={row}
        className={['message', isOwn && 'message-own', isFound && 'message-found'].filter(Boolean).join(' ')}
        tabIndex={isFound ? -1 : undefined}
        aria-current={isFound || undefined}
      >
        {!isTogether && (
          <p className="message-head">
            {avatarUrl !== null && <img className="message-avatar" src={avatarUrl} alt="" />}
            <span className="message-sender">{name}</span> <time dateTime={message.createdAt}>{clock.format(at)}</time>
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

/** An own message that is not stored yet. */
export function MessageOnItsWay({ content }: { content: string }) {
  return (
    <li className="message message-own">
      <p className="message-head">Sending…</p>
      <div className="bubble">
        <p>{content}</p>
      </div>
    </li>
  );
}
