import type { ChatMessage } from '@tandem/client';
import { useQuery } from '@tanstack/react-query';
import { Button } from '../ui/button.js';
import { useChat } from './chat.js';
import { messageKey } from './message-cache.js';
import { useNames } from './names.js';
import { useRoom } from './room.js';
import { t } from '../texts/texts.js';

/** A message of a channel that may not be among those that are shown. Null if there is none any more. */
export function useMessage(channelId: string, messageId: string | undefined, known?: ChatMessage) {
  const { messages } = useChat();
  const loaded = useQuery({
    queryKey: messageKey(channelId, messageId ?? ''),
    enabled: messageId !== undefined && known === undefined,
    queryFn: () => messages.loadOne(messageId ?? ''),
  });
  return { ...loaded, data: known ?? loaded.data };
}

interface QuoteProps {
  messageId: string;
  /** The message, if it is among those that are shown. */
  known: ChatMessage | undefined;
}

/** The message that another one answers, in a line that leads to it. */
export function Quote({ messageId, known }: QuoteProps) {
  const { channel, goTo } = useRoom();
  const { data: message } = useMessage(channel.id, messageId, known);
  const personOf = useNames(message ? [message.senderId] : [], channel.ownerId);
  if (message === null) return <p className="quote quote-gone">{t('chat.message.answersDeleted')}</p>;
  if (message === undefined) return <p className="quote">…</p>;
  const { name } = personOf(message.senderId);
  return (
    <Button
      className="quote"
      aria-label={t('chat.message.answers', { name, content: message.content })}
      onClick={() => goTo(message.seq)}
    >
      <strong>{name}</strong> <span>{message.content}</span>
    </Button>
  );
}
