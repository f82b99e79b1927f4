import { useMutation } from '@tanstack/react-query';
import { useId, useRef, type KeyboardEvent } from 'react';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';
import { Failure } from '../ui/notices.js';
import { sendKey, useChat, type Outgoing } from './chat.js';
import { useDraft } from './drafts.js';

/** Interval of typing reports, in milliseconds: the server forwards no more. */
const TYPING_EVERY_MS = 2000;

interface ComposerProps {
  channelId: string;
  /** Called when a message is on its way. */
  onSend(): void;
}

/**
 * Writing goes on while messages are on their way. What is refused comes back, before what was typed since. What is
 * written is still there on the way back from another channel or view.
 */
export function Composer({ channelId, onSend }: ComposerProps) {
  const { send, sayTyping, drafts } = useChat();
  const id = useId();
  const text = useDraft(drafts, channelId);
  const saidAt = useRef(-Infinity);
  const sending = useMutation({
    mutationKey: sendKey(channelId),
    mutationFn: (message: Outgoing) => send(channelId, message),
    onError: (_error, { content }) => drafts.write(channelId, [content, drafts.of(channelId)].filter(Boolean).join('\n')),
  });

  function submit(): void {
    const content = text.trim();
    if (content === '') return;
    sending.mutate({ clientId: crypto.randomUUID(), content });
    drafts.write(channelId, '');
    onSend();
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
        onKeyDown={onKeyDown}
        onChange={(event) => {
          drafts.write(channelId, event.target.value);
          const now = performance.now();
          if (event.target.value === '' || now - saidAt.current < TYPING_EVERY_MS) return;
          saidAt.current = now;
          sayTyping(channelId);
        }}
      />
      <Button type="submit" className="primary icon-button" aria-label="Send">
        <Icon name="send" />
      </Button>
      <Failure of={sending.error} />
    </form>
  );
}
