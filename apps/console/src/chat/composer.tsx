import { randomId } from '@tandem/client';
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { isComposing } from '../ui/is-composing.js';
import { Icon } from '../ui/icons.js';
import { notedFiles } from './attachments.js';
import { useChat } from './chat.js';
import { DraftFiles } from './draft-files.js';
import { useDraft } from './drafts.js';
import { FileButton } from './file-button.js';
import { MentionList, mentionAt, useMentions } from './mentions.js';
import { namedIn } from './message-text.js';
import { Quote } from './quote.js';
import { useRoom } from './room.js';
import { Templates } from './templates.js';
import { attach } from './uploads.js';
import { useFilesFromOutside } from './files-from-outside.js';
import { timeText } from '../texts/formats.js';
import { t } from '../texts/texts.js';

/** Interval of typing reports, in milliseconds: the server forwards no more. */
const TYPING_EVERY_MS = 2000;

interface ComposerProps {
  /** Where the draft is kept. */
  place: string;
  label: string;
  /** The message that all is an answer to. */
  replyToId?: string;
  /** Called when a message is on its way. */
  onSend?(): void;
  onEditLast?(): void;
}

/**
 * Writing goes on while messages and files are on their way. What is written is still there on the way back from
 * another channel or view.
 */
export function Composer({ place, label, replyToId, onSend, onEditLast }: ComposerProps) {
  const { client } = useSession();
  const { send, sayTyping, drafts } = useChat();
  const { channel, rights } = useRoom();
  const { id: channelId } = channel;
  const id = useId();
  const draft = useDraft(drafts, place);
  const { text, files } = draft;
  const answered = replyToId ?? draft.replyToId;
  const field = useRef<HTMLTextAreaElement>(null);
  const saidAt = useRef(-Infinity);
  const [cursor, setCursor] = useState(0);
  const [isFocused, setFocused] = useState(false);
  const mentions = useMentions(isFocused ? mentionAt(text, cursor) : undefined);
  const isUploading = files.some(({ uploaded }) => uploaded === undefined);
  const isEmpty = text.trim() === '' && files.length === 0;

  const addFiles = (chosen: readonly File[]) => attach({ client, drafts, place, channelId }, chosen);
  const [around, isDragging] = useFilesFromOutside(addFiles);
  const before = useRef(draft.replyToId);
  useEffect(() => {
    // whoever has chosen a message to answer goes on to write
    if (draft.replyToId !== undefined && draft.replyToId !== before.current) field.current?.focus();
    before.current = draft.replyToId;
  }, [draft.replyToId]);

  function write(changed: string): void {
    drafts.change(place, { text: changed });
    setCursor(field.current?.selectionStart ?? changed.length);
  }
  /** Puts a text where the cursor is, or in the place of what is from `start` to it. */
  function insert(added: string, start?: number): void {
    const { current: shown } = field;
    if (!shown) return;
    const end = shown.selectionEnd;
    shown.focus();
    shown.setRangeText(added, start ?? shown.selectionStart, end, 'end');
    write(shown.value);
  }
  function mention(chosen: { id: string; handle: string }): void {
    const at = mentionAt(text, cursor);
    if (!at) return;
    drafts.change(place, { mentions: new Map([...draft.mentions, [chosen.id, chosen.handle]]) });
    insert(`@${chosen.handle} `, at.start);
  }
  function submit(): void {
    if (isEmpty || isUploading) return;
    const known = files.map(({ file: { name, size } }) => ({ name, size }));
    const content = text.trim() || known.map(({ name }) => name).join(', ');
    const handles = namedIn(content, [...draft.mentions.values()]);
    const named = [...draft.mentions].flatMap(([one, handle]) => (handles.has(handle) ? one : []));
    send({
      channelId,
      content,
      clientId: randomId(),
      ...(answered !== undefined && { replyToId: answered }),
      ...(named.length > 0 && { mentions: named }),
      ...(known.length > 0 && {
        files: files.flatMap(({ uploaded }) => uploaded ?? []),
        metadata: notedFiles(known) as Record<string, string | number>,
      }),
    });
    drafts.clear(place);
    onSend?.();
  }
  function onKeyDown(event: KeyboardEvent): void {
    if (isComposing(event)) return;
    if (mentions.onKeyDown(event, mention)) return;
    if (event.key === 'ArrowUp' && text === '' && onEditLast) {
      event.preventDefault();
      onEditLast();
    }
    if (event.key === 'Escape' && draft.replyToId !== undefined) {
      event.preventDefault();
      drafts.change(place, { replyToId: undefined });
    }
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    submit();
  }

  if (rights.mutedUntil !== undefined)
    return <p className="composer composer-off">{t('chat.composer.muted', { time: timeText(new Date(rights.mutedUntil)) })}</p>;
  return (
    <div ref={around} className={isDragging ? 'composer composer-dragging' : 'composer'}>
      {draft.replyToId !== undefined && replyToId === undefined && (
        <div className="answering">
          <Quote messageId={draft.replyToId} known={undefined} />
          <Button
            className="icon-button quiet"
            aria-label={t('chat.composer.noAnswer')}
            title={t('chat.composer.noAnswer')}
            onClick={() => drafts.change(place, { replyToId: undefined })}
          >
            <Icon name="close" />
          </Button>
        </div>
      )}
      <DraftFiles place={place} />
      <MentionList {...mentions} onChoose={mention} />
      <label htmlFor={id} className="unseen">
        {label}
      </label>
      <textarea
        id={id}
        ref={field}
        rows={1}
        value={text}
        maxLength={10_000}
        placeholder={t(replyToId === undefined ? 'chat.composer.writeMessage' : 'chat.composer.writeReply')}
        onKeyDown={onKeyDown}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
        onSelect={({ currentTarget }) => setCursor(currentTarget.selectionStart)}
        {...mentions.field}
        onChange={({ target }) => {
          write(target.value);
          const now = performance.now();
          if (target.value === '' || now - saidAt.current < TYPING_EVERY_MS) return;
          if (sayTyping(channelId)) saidAt.current = now;
        }}
      />
      <div className="composer-tools">
        <FileButton onFiles={addFiles} />
        <Button
          className="icon-button quiet"
          aria-label={t('chat.composer.mention')}
          title={t('chat.composer.mention')}
          onClick={() => insert('@')}
        >
          <Icon name="at" />
        </Button>
        <Templates text={text} onInsert={insert} />
        <Button
          className="primary icon-button"
          aria-label={t('chat.composer.send')}
          title={t(isUploading ? 'chat.composer.waits' : 'chat.composer.send')}
          isOff={isEmpty || isUploading}
          onClick={submit}
        >
          <Icon name="send" />
        </Button>
      </div>
    </div>
  );
}
