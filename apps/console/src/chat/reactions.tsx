import type { ChatMessage, Reaction } from '@tandem/client';
import { useMutation } from '@tanstack/react-query';
import { useIdentityId, useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Field } from '../ui/field.js';
import { Icon } from '../ui/icons.js';
import { Popup } from '../ui/popup.js';
import { useChat } from './chat.js';
import { t } from '../texts/texts.js';

/** What is no emoji is shown between colons. */
const WORD = /^[a-z0-9_+-]+$/;
const COMMON = [
  ['👍', 'thumbsUp'],
  ['👎', 'thumbsDown'],
  ['❤️', 'heart'],
  ['😂', 'laughing'],
  ['😮', 'surprised'],
  ['😢', 'sad'],
  ['🎉', 'party'],
  ['🙏', 'thanks'],
  ['👀', 'looking'],
  ['✅', 'done'],
  ['🔥', 'fire'],
  ['🚀', 'rocket'],
  ['💯', 'hundred'],
  ['🤔', 'thinking'],
  ['👏', 'applause'],
  ['☕', 'coffee'],
] as const;

/** Reacts to a message, or takes it back: shown at once, and taken back where the server refuses. */
export function useReacting(message: ChatMessage) {
  const { client } = useSession();
  const self = useIdentityId();
  const { show } = useChat();
  const { channelId, id: messageId } = message;
  const tell = (key: string, isAdded: boolean, count: number) =>
    show({ type: isAdded ? 'reaction.created' : 'reaction.deleted', channelId, messageId, key, identityId: self, count });
  return useMutation({
    async mutationFn(key: string) {
      const known = message.reactions.find((one) => one.key === key);
      const { count = 0, mine = false } = known ?? {};
      tell(key, !mine, count + (mine ? -1 : 1));
      const { addReaction, removeReaction } = client.api.chat;
      try {
        await (mine ? removeReaction : addReaction).mutate({ messageId, key });
      } catch (error) {
        tell(key, mine, count);
        throw error;
      }
    },
  });
}

interface ReactionsProps {
  reactions: readonly Reaction[];
  onToggle(key: string): void;
}

/** What people react with, and how many; one's own are pressed. */
export function Reactions({ reactions, onToggle }: ReactionsProps) {
  if (reactions.length === 0) return null;
  return (
    <ul className="reactions" aria-label={t('chat.reactions.label')}>
      {reactions.map(({ key, count, mine }) => (
        <li key={key}>
          <Button className="reaction" aria-pressed={mine} aria-label={`${key} ${count}`} onClick={() => onToggle(key)}>
            {WORD.test(key) ? `:${key}:` : key} {count}
          </Button>
        </li>
      ))}
      <li>
        <ReactionPicker className="reaction reaction-add" onPick={onToggle} />
      </li>
    </ul>
  );
}

/** Common emoji to choose from, and a field for any other. */
export function ReactionPicker({ className = '', onPick }: { className?: string; onPick(key: string): void }) {
  return (
    <Popup kind="dialog" label={t('chat.reactions.add')} button={<Icon name="smile" />} className={`icon-button ${className}`}>
      {(close) => {
        const pick = (key: string) => {
          close();
          onPick(key);
        };
        return (
          <>
            <div className="emoji">
              {COMMON.map(([key, name]) => (
                <button
                  key={key}
                  type="button"
                  className="quiet"
                  aria-label={t(`chat.reactions.${name}`)}
                  title={t(`chat.reactions.${name}`)}
                  onClick={() => pick(key)}
                >
                  {key}
                </button>
              ))}
            </div>
            <form
              className="emoji-other"
              onSubmit={(event) => {
                event.preventDefault();
                const key = (new FormData(event.currentTarget).get('key') as string).trim();
                if (key !== '') pick(key);
              }}
            >
              <Field label={t('chat.reactions.another')} name="key" maxLength={32} autoComplete="off" />
              <Button type="submit">{t('chat.reactions.react')}</Button>
            </form>
          </>
        );
      }}
    </Popup>
  );
}
