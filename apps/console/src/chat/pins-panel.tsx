import { useMutation } from '@tanstack/react-query';
import { useIdentityId, useSession } from '../session/session.js';
import { Button } from '../ui/button.js';
import { Empty, Failure, Loading } from '../ui/notices.js';
import { QueryFailure, type QueryState } from '../ui/query-failure.js';
import { useChat } from './chat.js';
import type { PinnedMessage } from './message-cache.js';
import { useNames } from './names.js';
import { Panel } from '../ui/panel.js';
import { useRoom } from './room.js';
import { Time } from '../ui/time.js';
import { t } from '../texts/texts.js';

interface PinsPanelProps {
  /** Undefined until they are there. */
  pins: readonly PinnedMessage[] | undefined;
  loading: QueryState;
  onClose(): void;
}

/** The pinned messages of a channel, last pinned first. */
export function PinsPanel({ pins, loading, onClose }: PinsPanelProps) {
  const { client } = useSession();
  const self = useIdentityId();
  const { show } = useChat();
  const { channel, rights, goTo } = useRoom();
  const personOf = useNames(pins?.map(({ senderId }) => senderId) ?? [], channel.ownerId);
  const unpinning = useMutation({
    async mutationFn(messageId: string) {
      await client.api.chat.unpinMessage.mutate({ messageId });
      show({ type: 'pin.deleted', channelId: channel.id, messageId, identityId: self });
    },
  });
  return (
    <Panel title={t('chat.pins.title')} onClose={onClose}>
      <div className="panel-body">
        <Failure of={unpinning.error} />
        <QueryFailure of={[loading]} />
        {!pins && !loading.error && <Loading what={t('chat.loading.pins')} />}
        {pins?.length === 0 && <Empty title={t('chat.pins.none')}>{t('chat.pins.noneWhy')}</Empty>}
        <ul className="panel-list">
          {pins?.map(({ id, seq, senderId, content, createdAt }) => (
            <li key={id} className="pin">
              <p className="message-head">
                <span className="message-sender">{personOf(senderId).name}</span> <Time at={createdAt} />
              </p>
              <p className="message-body">{content}</p>
              <p className="pin-actions">
                <Button className="link" onClick={() => goTo(seq)}>
                  {t('chat.pins.show')}
                </Button>
                {rights.moderates && (
                  <Button className="link" onClick={() => unpinning.mutate(id)}>
                    {t('chat.message.unpin')}
                  </Button>
                )}
              </p>
            </li>
          ))}
        </ul>
      </div>
    </Panel>
  );
}
