import type { ChatMessage } from '@tandem/client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useIdentityId, useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Confirm } from '../ui/confirm.js';
import { copy } from '../ui/copy.js';
import { Icon } from '../ui/icons.js';
import { Menu } from '../ui/menu.js';
import { Failure } from '../ui/notices.js';
import { useChat } from './chat.js';
import { ReactionPicker } from './reactions.js';
import { ReportMessage } from './report-message.js';
import { useRoom } from './room.js';
import { t } from '../texts/texts.js';

interface MessageActionsProps {
  message: ChatMessage;
  onReact(key: string): void;
}

/** What one may do with a message; shown where the pointer or the focus is. */
export function MessageActions({ message, onReact }: MessageActionsProps) {
  const { client } = useSession();
  const { chat } = client.api;
  const self = useIdentityId();
  const { show } = useChat();
  const { channel, rights, pinned, edit, reply, openThread, onDeleted } = useRoom();
  const [asking, setAsking] = useState<'delete' | 'report'>();
  const { id: messageId, channelId, seq } = message;
  const isPinned = pinned.has(messageId);
  const acting = useMutation({ mutationFn: (act: () => Promise<unknown>) => act() });
  const pin = () =>
    acting.mutate(async () => {
      await (isPinned ? chat.unpinMessage : chat.pinMessage).mutate({ messageId });
      show({ type: isPinned ? 'pin.deleted' : 'pin.created', channelId, messageId, identityId: self });
    });
  const remove = () =>
    acting.mutate(async () => {
      await chat.deleteMessage.mutate({ messageId });
      show({ type: 'message.deleted', channelId, messageId, seq });
      onDeleted(message);
    });
  const copyLink = () => acting.mutate(() => copy(`${location.origin}/console/chat/${channel.id}?at=${seq}`));

  return (
    <>
      <div className="message-actions">
        <ReactionPicker onPick={onReact} />
        {reply && (
          <Button
            className="icon-button"
            aria-label={t('chat.message.reply')}
            title={t('chat.message.reply')}
            onClick={() => reply(message)}
          >
            <Icon name="reply" />
          </Button>
        )}
        <Menu
          label={t('chat.message.actions')}
          className="icon-button"
          entries={() => [
            reply !== undefined && { text: t('chat.message.openThread'), run: () => openThread(messageId) },
            message.senderId === self && { text: t('ui.edit'), run: () => edit(messageId) },
            rights.moderates && { text: t(isPinned ? 'chat.message.unpin' : 'chat.message.pin'), run: pin },
            { text: t('chat.message.copyLink'), run: copyLink },
            message.senderId !== self && { text: t('chat.message.report'), run: () => setAsking('report') },
            rights.mayDelete(message) && { text: t('chat.message.delete'), isDangerous: true, run: () => setAsking('delete') },
          ]}
        />
      </div>
      <Failure of={acting.error} />
      {asking === 'delete' && (
        <Confirm
          title={t('chat.message.deleteSure')}
          action={t('ui.delete')}
          onConfirm={remove}
          onClose={() => setAsking(undefined)}
        >
          <p className="quoted">{message.content}</p>
        </Confirm>
      )}
      {asking === 'report' && <ReportMessage message={message} onClose={() => setAsking(undefined)} />}
    </>
  );
}
