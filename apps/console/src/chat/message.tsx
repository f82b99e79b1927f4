import type { ChatMessage } from '@tandem/client';
import { useEffect, useRef } from 'react';
import { useIdentityId } from '../session/session.js';
import { Avatar } from '../ui/avatar.js';
import { Button } from '../ui/button.js';
import { Failure } from '../ui/notices.js';
import { Attachments, knownFiles } from './attachments.js';
import { EditMessage } from './edit-message.js';
import { MessageActions } from './message-actions.js';
import { MessageText } from './message-text.js';
import type { Shown } from './names.js';
import { Quote } from './quote.js';
import { Reactions, useReacting } from './reactions.js';
import { useRoom } from './room.js';
import { Edited } from './versions.js';
import { clockText, dayText, fullTimeText } from '../texts/formats.js';
import { t } from '../texts/texts.js';

/** Messages of one person within this time are shown as a group, in milliseconds. */
const TOGETHER_MS = 5 * 60_000;

const DAY_MS = 24 * 60 * 60_000;

/** The day of a message; undefined if it is that of the one before. */
export function newDayOf({ createdAt }: ChatMessage, before: ChatMessage | undefined): string | undefined {
  const its = dayText(new Date(createdAt));
  if (before && dayText(new Date(before.createdAt)) === its) return undefined;
  const now = Date.now();
  if (its === dayText(now)) return t('chat.conversation.today');
  return its === dayText(now - DAY_MS) ? t('chat.conversation.yesterday') : its;
}

interface MessageProps {
  message: ChatMessage;
  /** The one above it, if they may be shown as a group. */
  before: ChatMessage | undefined;
  personOf(identityId: string): Shown;
  /** The message that it answers, if that is to be shown, and among those that are loaded. */
  answered?: { message: ChatMessage | undefined };
  /** Whether it is the one that was looked for: shown first, and marked. */
  isFound?: boolean;
}

export function Message({ message, before, personOf, answered, isFound = false }: MessageProps) {
  const { id, senderId, createdAt, updatedAt, title, replyCount, replyToId, mentions, reactions } = message;
  const row = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (!isFound) return;
    row.current?.scrollIntoView({ block: 'center' });
    // keyboards and screen readers go on from here
    row.current?.focus({ preventScroll: true });
  }, [isFound]);
  const { editing, edit, openThread, pinned } = useRoom();
  const self = useIdentityId();
  const reacting = useReacting(message);
  const at = new Date(createdAt);
  const isQuoting = answered !== undefined && replyToId !== null;
  const isTogether = !isQuoting && before?.senderId === senderId && at.getTime() - Date.parse(before.createdAt) < TOGETHER_MS;
  const { name, handle, avatarUrl } = personOf(senderId);
  const isNamed = mentions.includes(self);
  const names = knownFiles(message).map((file) => file?.name);
  // what a message of files alone says, since it must say something
  const isOnlyFiles = names.length > 0 && message.content === names.join(', ');
  return (
    <li
      ref={row}
      className={['message', isTogether && 'message-more', isFound && 'message-found', isNamed && 'message-naming']
        .filter(Boolean)
        .join(' ')}
      data-seq={message.seq}
      tabIndex={-1}
      aria-current={isFound || undefined}
    >
      {isTogether ? (
        <time className="message-at" dateTime={createdAt} title={fullTimeText(at)}>
          {clockText(at)}
        </time>
      ) : (
        <Avatar of={senderId} name={senderId === self ? handle : name} url={avatarUrl} className="message-avatar" />
      )}
      <div className="message-main">
        {!isTogether && (
          <p className="message-head">
            <span className="message-sender">{name}</span>{' '}
            <time dateTime={createdAt} title={fullTimeText(at)}>
              {clockText(at)}
            </time>
            {pinned.has(id) && <span className="message-note">{t('chat.message.pinned')}</span>}
          </p>
        )}
        {isQuoting && <Quote messageId={replyToId} known={answered.message} />}
        {editing === id ? (
          <EditMessage message={message} onEnd={() => edit(undefined)} />
        ) : (
          <>
            {title !== null && <p className="message-title">{title}</p>}
            {!isOnlyFiles && (
              <span className="message-body">
                <MessageText
                  text={message.content}
                  handles={mentions.map((one) => personOf(one).handle)}
                  own={personOf(self).handle}
                />
              </span>
            )}{' '}
            {updatedAt > createdAt && <Edited message={message} />}
            <Attachments message={message} />
          </>
        )}
        <Reactions reactions={reactions} onToggle={(key) => reacting.mutate(key)} />
        {replyCount > 0 && answered !== undefined && (
          <Button className="link replies-link" onClick={() => openThread(id)}>
            {t('chat.message.replies', { count: replyCount })}
          </Button>
        )}
        <Failure of={reacting.error} />
      </div>
      {editing !== id && <MessageActions message={message} onReact={(key) => reacting.mutate(key)} />}
    </li>
  );
}
