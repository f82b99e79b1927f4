import { useMutation } from '@tanstack/react-query';
import { useId, useRef, useState, type KeyboardEvent } from 'react';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icons.js';
import { Failure } from '../ui/notices.js';
import { sendKey, useChat, type Draft } from './chat.js';

/** Interval of typing reports, in milliseconds: the server forwards no more. */
const TYPING_EVERY_MS = 2000;

interface ComposerProps {
  channelId: string;
  /** Called when a message is on its way. */
  onSend(): void;
}

/** Writing goes on while messages are on their way. What is refused comes back, before what was typed since. */
export function Composer({ channelId, onSend }: ComposerProps) {
  const { send, sayTyping } = useChat();
  const id = useId();
  const [text, setText] = useState('');
  const saidAt = useRef(-Infinity);
  const sending = useMutation({
    mutationKey: sendKey(channelId),
    mutationFn: (draft: Draft) => send(channelId, draft),
    onError: (_error, { content }) => setText((typed) => (typed === '' ? content : `${content}\n${typed}`)),
  });

  function submit(): void {
    const content = text.trim();
    if (content === '') return;
    sending.mutate({ clientId: crypto.randomUUID(), content });
    setText('');
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
          setText(event.target.value);
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
