import type { ChatMessage } from '@tandem/client';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import { useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { ToldFailure, failureText } from '../ui/failure-text.js';
import { isComposing } from '../ui/is-composing.js';
import { Icon } from '../ui/icons.js';
import { Failure } from '../ui/notices.js';
import { knownFiles, notedFiles, type KnownFile } from './attachments.js';
import { useChat } from './chat.js';
import { FileButton } from './file-button.js';
import { refusalOf, upload } from './uploads.js';
import { t } from '../texts/texts.js';

interface EditMessageProps {
  message: ChatMessage;
  onEnd(): void;
}

/** What was wrong with one of several files. */
const of = ({ name }: File, error: unknown) => new ToldFailure(t('ui.failures.at', { field: name, problem: failureText(error) }));

/** A message whose text is changed in its place. Files are added and removed at once. */
export function EditMessage({ message, onEnd }: EditMessageProps) {
  const { client } = useSession();
  const { chat } = client.api;
  const { show } = useChat();
  const { id: messageId, channelId, attachments } = message;
  const id = useId();
  const [text, setText] = useState(message.content);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const { current: shown } = field;
    shown?.focus();
    shown?.setSelectionRange(shown.value.length, shown.value.length);
  }, []);
  const saving = useMutation({
    async mutationFn(content: string) {
      const changed = await chat.patchMessage.mutate({ messageId, content });
      show({ type: 'message.updated', channelId, message: changed });
    },
    onSuccess: onEnd,
  });
  const files = knownFiles(message);
  /** Notes the names of the files that the message has now. */
  async function note(all: readonly (KnownFile | undefined)[]): Promise<void> {
    const known = all.filter((file) => file !== undefined);
    const metadata = notedFiles(known.length === all.length ? known : [], Math.max(all.length, attachments.length));
    const changed = await chat.patchMessage.mutate({ messageId, metadata });
    show({ type: 'message.updated', channelId, message: changed });
  }
  const adding = useMutation({
    async mutationFn(added: readonly File[]) {
      for (const [at, file] of added.entries()) {
        const refusal = refusalOf(file, attachments.length + at);
        if (refusal) throw of(file, refusal);
      }
      for (const [at, file] of added.entries()) {
        const uploaded = await upload(chat.attachmentUploadUrl, { messageId }, file).catch((error: unknown) => {
          throw of(file, error);
        });
        await chat.addAttachment.mutate({ messageId, ...uploaded });
        // at once: the next one may be refused
        await note([...files, ...added.slice(0, at + 1)]);
      }
    },
  });
  const removing = useMutation({
    async mutationFn(removed: number) {
      const attachmentId = attachments[removed]?.id;
      if (attachmentId === undefined) return;
      await chat.removeAttachment.mutate({ messageId, attachmentId });
      await note(files.toSpliced(removed, 1));
    },
  });
  const isChanging = adding.isPending || removing.isPending;

  function save(): void {
    const content = text.trim();
    if (content === '' || saving.isPending) return;
    if (content === message.content) onEnd();
    else saving.mutate(content);
  }
  function onKeyDown(event: KeyboardEvent): void {
    event.stopPropagation();
    if (isComposing(event)) return;
    if (event.key === 'Escape') onEnd();
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    save();
  }
  return (
    <form
      className="edit"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <label htmlFor={id} className="unseen">
        {t('chat.message.change')}
      </label>
      <textarea
        id={id}
        ref={field}
        rows={1}
        value={text}
        maxLength={10_000}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
      />
      {attachments.length > 0 && (
        <ul className="draft-files" aria-label={t('chat.files.ofMessage')}>
          {attachments.map(({ id: attachmentId, type }, at) => {
            const name = files[at]?.name ?? type;
            return (
              <li key={attachmentId} className="draft-file">
                <span className="file-name">{name}</span>
                <Button
                  className="icon-button quiet"
                  aria-label={t('chat.files.remove', { name })}
                  isOff={isChanging}
                  onClick={() => removing.mutate(at)}
                >
                  <Icon name="close" />
                </Button>
              </li>
            );
          })}
        </ul>
      )}
      <Failure of={saving.error ?? adding.error ?? removing.error} />
      <div className="edit-actions">
        <FileButton isOff={isChanging} onFiles={(added) => adding.mutate(added)} />
        <span className="hint">{t('chat.message.escape')}</span>
        <Button onClick={onEnd}>{t('ui.cancel')}</Button>
        <Button type="submit" className="primary" isOff={saving.isPending}>
          {t('ui.save')}
        </Button>
      </div>
    </form>
  );
}
